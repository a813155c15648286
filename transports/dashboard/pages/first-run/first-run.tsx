// First steps.

/** The page. */
export default function FirstRun() {
  return (
    <header class="top">
      <h1>First steps</h1>
    </header>
  );
}

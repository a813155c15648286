// Playground.

/** The page. */
export default function Playground() {
  return (
    <header class="top">
      <h1>Playground</h1>
    </header>
  );
}

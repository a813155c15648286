// Gateway: what this page shows.

/** The page. */
export default function Gateway() {
  return (
    <header class="top">
      <h1>Gateway</h1>
    </header>
  );
}

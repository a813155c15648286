// Archive: what this page shows.

/** The page. */
export default function Archive() {
  return (
    <header class="top">
      <h1>Archive</h1>
    </header>
  );
}

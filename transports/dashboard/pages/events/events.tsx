// Events: what this page shows.

/** The page. */
export default function Events() {
  return (
    <header class="top">
      <h1>Events</h1>
    </header>
  );
}

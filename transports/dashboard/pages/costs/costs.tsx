// Costs: what this page shows.

/** The page. */
export default function Costs() {
  return (
    <header class="top">
      <h1>Costs</h1>
    </header>
  );
}

// Settings: what this page shows.

/** The page. */
export default function Settings() {
  return (
    <header class="top">
      <h1>Settings</h1>
    </header>
  );
}

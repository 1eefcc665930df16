// Runs before the first paint, so that a dark page never flashes white.
(() => {
  let wanted = null;
  try {
    wanted = localStorage.getItem('theme');
  } catch {
    // Storage may be disabled; the system's theme is used then.
  }
  const dark = wanted ? wanted === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  document.documentElement.dataset.theme = dark ? 'dark' : 'light';
})();

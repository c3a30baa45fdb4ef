// Apply the stored theme before the first paint; a module would run too late.
(() => {
  try {
    const chosen = localStorage.getItem("rankery-theme");
    if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
  } catch {
    // Without storage the page follows the system.
  }
})();

// The colours that were chosen at the last visit, before anything is drawn: therefore no module, which waits.
(() => {
  try {
    const chosen = localStorage.getItem("rankery-theme");
    if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
  } catch {
    // Without storage the system decides.
  }
})();

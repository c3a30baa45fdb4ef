// Apply the colour scheme that was chosen at the last visit, before the page is drawn.
(() => {
  const chosen = __md_get("__palette")?.color;
  if (!chosen) return;
  if (chosen.media === "(prefers-color-scheme)") {
    const scheme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
    const option = document.querySelector(`[data-md-color-media="(prefers-color-scheme: ${scheme})"]`);
    for (const name of ["media", "scheme", "primary", "accent"]) {
      chosen[name] = option.getAttribute(`data-md-color-${name}`);
    }
  }
  for (const [name, value] of Object.entries(chosen)) {
    document.body.setAttribute(`data-md-color-${name}`, value);
  }
})();

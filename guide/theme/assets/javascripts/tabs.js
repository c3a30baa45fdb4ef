// In each set of tabs, open the tab that was chosen on another page, then the tab in the hash of the URL.
(() => {
  const chosen = __md_get("__tabs");
  for (const set of document.querySelectorAll(".tabbed-set")) {
    const labels = [...set.querySelectorAll(":scope > .tabbed-labels > label")];
    const label = labels.find((label) => Array.isArray(chosen) && chosen.includes(label.textContent.trim()));
    if (label) document.getElementById(label.htmlFor).checked = true;
  }
  const named = document.getElementById(location.hash.slice(1));
  if (named?.name?.startsWith("__tabbed_")) named.checked = true;
})();

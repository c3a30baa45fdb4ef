/**
 * The page to sign in, which works without this script. The script can show the typed key, and redirects users who are
 * signed in.
 * @module
 */

// No imports: without a key only this module can be loaded.
const key = /** @type {HTMLInputElement} */ (document.querySelector("#key"));
const next = /** @type {HTMLInputElement} */ (document.querySelector("#sign-in [name=next]"));
const show = /** @type {HTMLButtonElement} */ (document.querySelector("#show"));

show.hidden = false;
show.addEventListener("click", () => {
  const shown = key.type === "password";
  key.type = shown ? "text" : "password";
  show.setAttribute("aria-pressed", String(shown));
  show.textContent = shown ? "Hide" : "Show";
  key.focus();
});

/** Open a page again. A link on another site brings no cookie along; asked from here, the browser sends it. @param {string} path */
async function goOn(path) {
  const url = document.body.dataset.root + path;
  const answer = await fetch(url, { headers: { accept: "text/html" }, redirect: "manual" });
  if (answer.ok) location.replace(url);
}

if (new URLSearchParams(location.search).has("next")) goOn(next.value).catch(() => {});

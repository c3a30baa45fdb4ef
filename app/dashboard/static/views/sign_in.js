/**
 * The sign-in page, which works without this script. The script can show the entered key, and redirects users who are
 * signed in. @module
 */

// No imports: before the sign-in, only this module can be loaded.
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

/** Open the page if the user is signed in. Links from other sites send no cookie, requests from this page do. @param {string} path */
async function openIfSignedIn(path) {
  const url = document.body.dataset.root + path;
  const answer = await fetch(url, { headers: { accept: "text/html" }, redirect: "manual" });
  if (answer.ok) location.replace(url);
}

// Browsers keep the fragment of the requested URL while the server redirects here.
if (!next.value.includes("#")) next.value += location.hash;
if (new URLSearchParams(location.search).has("next")) openIfSignedIn(next.value).catch(() => {});

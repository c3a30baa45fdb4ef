/**
 * The page to sign in works without this script; with it the key can be looked at while it is typed, and who
 * has signed in already goes on.
 * @module
 */
const form = document.getElementById("sign-in");
const key = form.elements.key;
const show = document.getElementById("show");

show.hidden = false;
show.addEventListener("click", () => {
  const shown = key.type === "password";
  key.type = shown ? "text" : "password";
  show.setAttribute("aria-pressed", String(shown));
  show.textContent = shown ? "Hide" : "Show";
  key.focus();
});

/** A link on another site brings no cookie along; asked from here, the browser sends it. */
async function goOn(next) {
  const answer = await fetch(next, { headers: { accept: "text/html" }, redirect: "manual" });
  if (answer.ok) location.replace(next);
}

if (new URLSearchParams(location.search).has("next")) goOn(form.elements.next.value).catch(() => {});

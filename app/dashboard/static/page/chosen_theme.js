/** Theme of the dashboard. @module */
import { store } from "./storage.js";

const KEY = "rankery-theme";

export const THEMES = ["system", "light", "dark"];

/** Return the chosen theme, "system" by default. */
export const chosenTheme = () => document.documentElement.dataset.theme ?? "system";

/** Show and keep a theme; the document gets the event `themechange`. @param {string} theme one of `THEMES` */
export function chooseTheme(theme) {
  const { dataset } = document.documentElement;
  if (theme === "system") delete dataset.theme;
  else dataset.theme = theme;
  store(KEY, theme); // without storage, the choice applies to this page only
  document.dispatchEvent(new Event("themechange"));
}

/** The API reference; Swagger UI is a separate script, which is loaded first. @module */
import { urlOf } from "../page/paths.js";
import { chosenTheme } from "../page/chosen_theme.js";

const { SwaggerUIBundle } = window;
const dark = matchMedia("(prefers-color-scheme: dark)");

function showTheme() {
  const theme = chosenTheme();
  document.documentElement.classList.toggle("dark-mode", theme === "dark" || (theme === "system" && dark.matches));
}

dark.addEventListener("change", showTheme);
showTheme();

/** Show paths of operations without links: they are inside a button, which must not contain a second control. */
const plainPaths = () => ({
  wrapComponents: {
    /** @param {Function} Link @param {{React: {createElement: Function}}} system */
    DeepLink:
      (Link, { React }) =>
      (/** @type {object} */ properties) =>
        React.createElement(Link, { ...properties, enabled: false }),
  },
});

SwaggerUIBundle({
  url: urlOf("/openapi.json"),
  dom_id: "#swagger-ui",
  deepLinking: true,
  // Schemas are drawn when their section is opened: there are hundreds.
  defaultModelsExpandDepth: 0,
  showExtensions: true,
  showCommonExtensions: true,
  presets: [SwaggerUIBundle.presets.apis, SwaggerUIBundle.SwaggerUIStandalonePreset],
  plugins: [plainPaths],
  validatorUrl: null,
});

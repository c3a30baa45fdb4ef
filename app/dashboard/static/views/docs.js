/**
 * The documentation of the interface; Swagger UI is a separate script, loaded before.
 * @module
 */
import { urlOf } from "../page/addresses.js";

const { SwaggerUIBundle } = window;

SwaggerUIBundle({
  url: urlOf("/openapi.json"),
  dom_id: "#swagger-ui",
  deepLinking: true,
  showExtensions: true,
  showCommonExtensions: true,
  presets: [SwaggerUIBundle.presets.apis, SwaggerUIBundle.SwaggerUIStandalonePreset],
  validatorUrl: null,
});

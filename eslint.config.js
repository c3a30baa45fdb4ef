import js from "@eslint/js";
import importX from "eslint-plugin-import-x";
import globals from "globals";

export default [
  js.configs.recommended,
  {
    files: ["app/dashboard/static/**/*.js"],
    languageOptions: { globals: globals.browser },
    plugins: { "import-x": importX },
    rules: {
      "import-x/no-cycle": "error",
      eqeqeq: ["error", "always", { null: "ignore" }],
      "no-unused-vars": ["error", { ignoreRestSiblings: true }],
      "no-var": "error",
      "object-shorthand": "error",
      "prefer-const": "error",
    },
  },
  {
    files: ["tests/dashboard/**/*.js"],
    languageOptions: { globals: { ...globals.node, location: "writable" } },
  },
  {
    files: ["guide/theme/**/*.js"],
    languageOptions: {
      sourceType: "script",
      globals: { ...globals.browser, __md_get: "readonly", document$: "readonly" },
    },
    rules: {
      "no-redeclare": ["error", { builtinGlobals: false }], // scope.js defines __md_get
      "no-unused-vars": ["error", { vars: "local" }],
    },
  },
];

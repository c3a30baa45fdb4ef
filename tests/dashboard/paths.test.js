import assert from "node:assert/strict";
import { test } from "node:test";
import * as paths from "../../app/dashboard/static/page/paths.js";

test("paths get the root path of the service, and other URLs do not change", () => {
  assert.equal(paths.urlOf("/jobs"), "/rankery/jobs");
  assert.equal(paths.urlOf("//elsewhere.org"), "//elsewhere.org");
  assert.equal(paths.urlOf("https://elsewhere.org"), "https://elsewhere.org");
  assert.equal(paths.pagePath(), "/models/web%3A3");
  assert.equal(paths.serviceUrl(), "https://example.org/rankery");
});

test("names in an address are escaped, except for the colon of a version", () => {
  assert.equal(paths.modelPage("web:3"), "/models/web:3");
  assert.equal(paths.modelPage("a/b?c"), "/models/a%2Fb%3Fc");
  assert.equal(paths.queryPage("ds_1", "50% off/ü"), "/datasets/ds_1/queries/50%25%20off%2F%C3%BC");
  assert.equal(paths.featureTablePage("ds_1", "a&b"), "/datasets/ds_1#features=a%26b");
  assert.equal(paths.modelApi("web:3", "/trees"), "/v1/models/web%3A3/trees");
});

test("an address lists the compared jobs or systems in order", () => {
  assert.equal(paths.compareJobsPage(["job_2", "job_1"]), "/jobs/compare?job=job_2&job=job_1");
  assert.equal(
    paths.comparisonFormPage(["web:1", "rnk_1"], "ds_1"),
    "/comparisons?system=web%3A1&system=rnk_1&dataset=ds_1#compare",
  );
  assert.equal(paths.comparisonFormPage(["web:1"]), "/comparisons?system=web%3A1#compare");
});

test("the id in the address of a page is decoded, and an invalid escape is kept", () => {
  assert.equal(paths.pageObjectId(), "web:3");
  assert.equal(paths.decoded("100%"), "100%");
  assert.equal(paths.decoded("a%20b"), "a b");
});

test("the state of a page is in the fragment of its address, without empty values", () => {
  assert.equal(paths.hashValue("view"), "try");
  paths.setHashValues({ view: "", tree: 7, query: "a&b" });
  assert.equal(paths.hashValue("view"), null);
  assert.equal(paths.hashValue("tree"), "7");
  assert.equal(paths.hashValue("query"), "a&b");
});

test("trainings of both kinds are repeated in the training form, and other jobs have no form", () => {
  assert.equal(paths.trainingFormPage({ kind: "train", id: "job_1" }), "/train?from=job_1");
  assert.equal(paths.trainingFormPage({ kind: "auto-train", id: "job_1" }), "/train?from=job_1");
  assert.equal(paths.trainingFormPage({ kind: "evaluate", id: "job_1" }), null);
});

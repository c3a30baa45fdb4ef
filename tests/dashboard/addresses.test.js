import assert from "node:assert/strict";
import { test } from "node:test";
import * as addresses from "../../app/dashboard/static/page/addresses.js";

test("paths get the root path of the service, and other addresses do not change", () => {
  assert.equal(addresses.urlOf("/jobs"), "/rankery/jobs");
  assert.equal(addresses.urlOf("//elsewhere.org"), "//elsewhere.org");
  assert.equal(addresses.urlOf("https://elsewhere.org"), "https://elsewhere.org");
  assert.equal(addresses.pagePath(), "/models/web%3A3");
  assert.equal(addresses.serviceUrl(), "https://example.org/rankery");
});

test("names in an address are escaped, except for the colon of a version", () => {
  assert.equal(addresses.modelPage("web:3"), "/models/web:3");
  assert.equal(addresses.modelPage("a/b?c"), "/models/a%2Fb%3Fc");
  assert.equal(addresses.queryPage("ds_1", "50% off/ü"), "/datasets/ds_1/queries/50%25%20off%2F%C3%BC");
  assert.equal(addresses.featureView("ds_1", "a&b"), "/datasets/ds_1#features=a%26b");
  assert.equal(addresses.modelApi("web:3", "/trees"), "/v1/models/web%3A3/trees");
});

test("an address lists the compared jobs or systems in order", () => {
  assert.equal(addresses.compareJobs(["job_2", "job_1"]), "/jobs/compare?job=job_2&job=job_1");
  assert.equal(
    addresses.compareWith(["web:1", "rnk_1"], "ds_1"),
    "/comparisons?system=web%3A1&system=rnk_1&dataset=ds_1#compare",
  );
  assert.equal(addresses.compareWith(["web:1"]), "/comparisons?system=web%3A1#compare");
});

test("the id in the address of a page is decoded, and an invalid escape is kept", () => {
  assert.equal(addresses.pageObjectId(), "web:3");
  assert.equal(addresses.decoded("100%"), "100%");
  assert.equal(addresses.decoded("a%20b"), "a b");
});

test("the state of a page is in the fragment of its address, without empty values", () => {
  assert.equal(addresses.hashValue("view"), "try");
  addresses.setHashValues({ view: "", tree: 7, query: "a&b" });
  assert.equal(addresses.hashValue("view"), null);
  assert.equal(addresses.hashValue("tree"), "7");
  assert.equal(addresses.hashValue("query"), "a&b");
});

test("trainings of both kinds are repeated in the training form, and other jobs have no form", () => {
  assert.equal(addresses.formFrom({ kind: "train", id: "job_1" }), "/train?from=job_1");
  assert.equal(addresses.formFrom({ kind: "auto-train", id: "job_1" }), "/train?from=job_1");
  assert.equal(addresses.formFrom({ kind: "evaluate", id: "job_1" }), null);
});

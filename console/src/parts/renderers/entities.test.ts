import assert from "node:assert/strict";
import { test } from "node:test";

import { withoutReferences } from "./entities.ts";

test("references become characters, once, and unknown ones stay", () => {
  assert.equal(withoutReferences("&lt;b&gt; &amp;amp; &#8364;&#x20ac;&euro; &nosuch; AT&T; a && b"), "<b> &amp; €€€ &nosuch; AT&T; a && b");
  assert.equal(withoutReferences("&#0;&#xD800;&#9999999;"), "\ufffd\ufffd\ufffd");
});

// The majors of AI SDK that people use, each with the same tests.

import { describe } from "node:test";

import * as ai5 from "ai5";
import * as ai6 from "ai6";
import * as ai7 from "ai7";

import { assertStored, initialMessages, openChat } from "./client.mjs";

const VERSIONS = [
  [5, ai5],
  [6, ai6],
  [7, ai7],
];

/** Runs a suite for each version. The tests of a suite have sessions of their own, and run at once. */
export function eachVersion(house, suite) {
  for (const [major, ai] of VERSIONS) {
    const hasApprovals = major > 5;
    // Version 5 knows no events about approvals.
    const base = hasApprovals ? { answersApprovals: true } : { body: { approvals: "data" } };
    const version = {
      ai,
      major,
      hasApprovals,
      newSession: () => house.newSession(`v${major}`),
      open: (session, options = {}) => openChat(ai, house, session, { ...base, ...options }),
      initial: (session) => initialMessages(ai, house, session),
      stored: (session, chat) => assertStored(house, session, chat),
    };
    describe(`AI SDK ${major}`, { concurrency: 6 }, () => suite(version));
  }
}

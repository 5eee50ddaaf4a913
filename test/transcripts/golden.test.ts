// Every transcript in all sixteen directions, whole and streamed: the upstream's request, the caller's answer, and the reported
// losses. Every stream is cut at every byte, and ended after every frame. The short form checks a fifth of those places.
import { describe, expect, it } from "vitest";
import { shortOrLong } from "../support/long.ts";
import {
  byteCuts,
  directAnswers,
  directRequests,
  directStreams,
  earlyEnds,
  otherForms,
  refusals,
  requests,
  sameExchange,
  streamingRequests,
  streams,
  wholeAnswers,
  type Check,
  type Sample,
} from "./checks.ts";
import { withAny } from "./directions.ts";
import { caseNames, readTranscript } from "./transcript.ts";

const cases: readonly (readonly [title: string, name: string])[] = [
  ["STREAM-03: one question, one answer", "plain"],
  ["CONV-201 CONV-301 CONV-401 CONV-501: a system prompt and an earlier turn", "multi-turn"],
  ["T42: one call, signed by its vendor", "one-call"],
  ["T9: parallel calls", "parallel-calls"],
  ["T6: interleaved pieces of calls", "interleaved-calls"],
  ["T2 T3: arguments in one piece", "whole-arguments"],
  ["T4: empty ids, names and contents", "empty-ids"],
  ["T5: calls with the same index", "back-to-back-calls"],
  ["T1: text next to an empty list of calls", "empty-call-list"],
  ["T10 T11 T12: text and a call", "text-then-call"],
  ["T7 T8: text after a call", "text-after-call"],
  ["T13 T33: tools of one protocol only", "custom-tools"],
  ["T13 T33: a tool within a namespace", "namespaces"],
  ["CONV-717 T21: calls without ids", "calls-without-ids"],
  ["T17: characters of every kind", "unicode"],
  ["CONV-604 T25: empty contents", "empty-content"],
  ["T18: reasoning, then text", "thinking-before-text"],
  ["T18: reasoning after text", "thinking-after-text"],
  ["T18: reasoning only", "thinking-only"],
  ["T39: reasoning, then a call", "thinking-before-tool"],
  ["T38: a signature on its own", "lone-signature"],
  ["CONV-711: a refusal", "refusal"],
  ["CONV-710: an answer stopped by a filter", "content-filter"],
  ["CONV-712: a prompt that was blocked", "blocked-prompt"],
  ["T19 T45: an answer truncated at its limit", "length-stop"],
  ["T3: a call truncated at the limit", "cut-call"],
  ["CONV-205 CONV-305: a stop sequence that matched", "stop-sequence"],
  ["T46 T50 CONV-817 CONV-818: input from a cache", "cached-usage"],
  ["T51 CONV-819 CONV-820: reasoning tokens within the output", "reasoning-usage"],
  ["T44 T49: usage at the end", "late-usage"],
  ["T48: missing usage", "untold-usage"],
  ["T16: an error in the middle of a stream", "error-midway"],
  ["T16: an error at the start of a stream", "error-at-once"],
  ["T22 T35: a tool loop", "tool-loop"],
  ["CONV-113 CONV-206 CONV-306 CONV-405 CONV-506: settings of sampling", "sampling"],
  ["T20 CONV-602 CONV-603: results without calls, and calls without results", "orphans"],
  ["T20: late results", "late-results"],
  ["T21: repeated ids", "repeated-ids"],
  ["T22: results that are objects", "nested-results"],
  ["T26: an empty key in a result", "empty-json-key"],
  ["T27: a picture in a result", "image-results"],
  ["T23 T24: a schema with many keywords", "schema-keywords"],
  ["CONV-216 CONV-315 CONV-417 CONV-517 CONV-518: pictures", "images"],
  ["CONV-113: the detail of a picture", "image-detail"],
  ["CONV-426 CONV-606: a document", "documents"],
  ["CONV-424: audio", "audio"],
  ["CONV-217 CONV-316 CONV-519: cache markers", "cache-markers"],
  ["T36: a vendor's billing line", "billing-header"],
  ["T31 CONV-215 CONV-314 CONV-416 CONV-516: the end user and the session", "session"],
  ["CONV-211 CONV-310 CONV-412 CONV-511: an answer schema", "json-schema"],
  ["CONV-214 CONV-313 CONV-415 CONV-515: a JSON object with low verbosity", "json-object"],
  [
    "T29 T32 CONV-210 CONV-309 CONV-411 CONV-510: allowed tools, one call at a time",
    "parallel-and-choice",
  ],
  ["T32 CONV-209 CONV-308 CONV-410 CONV-509: a forced tool", "forced-tool"],
  ["T28 T34 CONV-419 CONV-420: effort with sampling", "effort"],
  ["CONV-218 CONV-317: a budget for reasoning", "budget"],
  ["T40 T41 CONV-219: earlier reasoning, signed", "reasoning-history"],
  ["T39: a tool loop that began with reasoning", "reasoning-tool-loop"],
  ["CONV-101 CONV-104 CONV-105: fields of one protocol only", "direct-only"],
  ["CONV-112: web search", "web-search"],
  ["CONV-601: adjacent turns of one role", "neighbours"],
  ["T30 CONV-202 CONV-302 CONV-402 CONV-502: the maximum under its newer name", "maximum"],
];

const checks: readonly (readonly [title: string, check: Check])[] = [
  ["is the same exchange in all four protocols", sameExchange],
  ["is refused only if the upstream cannot accept it", refusals],
  ["sends upstreams of other protocols the same request, and reports what is dropped", requests],
  ["sends its own protocol's upstream the complete request", directRequests],
  ["T47: asks for a stream, and its usage, in the upstream's way", streamingRequests],
  ["T37: gives the whole answer to callers of other protocols, without secrets", wholeAnswers],
  ["gives the whole answer to callers of its own protocol", directAnswers],
  ["T44: gives a legal stream that adds up to the whole answer", streams],
  ["gives its own stream to callers of its own protocol", directStreams],
  ["T14 T15: converts between whole and streamed answers", otherForms],
  ["T17: is the same at any cut of its streams", byteCuts],
  ["T16: ends as an error wherever its streams end too early", earlyEnds],
];

/** Places in a stream: all in the long form; every fifth in the short one, different ones each day. */
const share = shortOrLong(5, 1);
const today = Math.floor(Date.now() / 86_400_000);
const some: Sample = (places) => places.filter((_, index) => (index + today) % share === 0);

it("each transcript has a row in this table", () => {
  expect(cases.map(([, name]) => name).sort()).toEqual(caseNames().sort());
});

describe.each(cases)("%s", (_, name) => {
  const transcript = readTranscript(name);

  it.each(checks)("%s", (__, check) => {
    const findings = [...check(transcript, some)];
    const is = findings.map(([at, found, shouldBe]) => [at, withAny(found, shouldBe)]);
    const shouldBe = findings.map(([at, , expected]) => [at, expected]);
    expect(Object.fromEntries(is)).toEqual(Object.fromEntries(shouldBe));
  });
});

// Every transcript in all sixteen directions, whole and streamed: the upstream's request, the caller's answer, and the reported
// losses. Every stream is cut at every byte, and ended after every frame. The short form checks a fifth of those places.
import { describe, expect, it } from "vitest";
import { inForm } from "../support/long.ts";
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
  ["T9: calls at once", "parallel-calls"],
  ["T6: calls whose pieces come in turn", "interleaved-calls"],
  ["T2 T3: arguments that come whole", "whole-arguments"],
  ["T4: ids, names and contents that are empty", "empty-ids"],
  ["T5: calls numbered alike", "back-to-back-calls"],
  ["T1: text beside an empty list of calls", "empty-call-list"],
  ["T10 T11 T12: text and a call", "text-then-call"],
  ["T7 T8: text after a call", "text-after-call"],
  ["T13 T33: tools of one protocol only", "custom-tools"],
  ["T13 T33: a tool within a namespace", "namespaces"],
  ["CONV-717 T21: calls without ids", "calls-without-ids"],
  ["T17: characters of every kind", "unicode"],
  ["CONV-604 T25: contents that are empty", "empty-content"],
  ["T18: reasoning, then text", "thinking-before-text"],
  ["T18: reasoning after text", "thinking-after-text"],
  ["T18: reasoning only", "thinking-only"],
  ["T39: reasoning, then a call", "thinking-before-tool"],
  ["T38: a signature on its own", "lone-signature"],
  ["CONV-711: a refusal", "refusal"],
  ["CONV-710: an answer that a filter ended", "content-filter"],
  ["CONV-712: a prompt that was blocked", "blocked-prompt"],
  ["T19 T45: an answer that met its limit", "length-stop"],
  ["T3: a call that met the limit", "cut-call"],
  ["CONV-205 CONV-305: a stop sequence that matched", "stop-sequence"],
  ["T46 T50 CONV-817 CONV-818: input from a cache", "cached-usage"],
  ["T51 CONV-819 CONV-820: reasoning as a part of the output", "reasoning-usage"],
  ["T44 T49: usage told at the end", "late-usage"],
  ["T48: usage that is not told", "untold-usage"],
  ["T16: an error in the middle of a stream", "error-midway"],
  ["T16: an error at the start of a stream", "error-at-once"],
  ["T22 T35: a tool loop", "tool-loop"],
  ["CONV-113 CONV-206 CONV-306 CONV-405 CONV-506: settings of sampling", "sampling"],
  ["T20 CONV-602 CONV-603: results without calls, and calls without results", "orphans"],
  ["T20: results that come late", "late-results"],
  ["T21: ids that come again", "repeated-ids"],
  ["T22: results that are objects", "nested-results"],
  ["T26: an empty key in a result", "empty-json-key"],
  ["T27: a picture in a result", "image-results"],
  ["T23 T24: a schema with much in it", "schema-keywords"],
  ["CONV-216 CONV-315 CONV-417 CONV-517 CONV-518: pictures", "images"],
  ["CONV-113: how closely a picture is looked at", "image-detail"],
  ["CONV-426 CONV-606: a document", "documents"],
  ["CONV-424: sound", "audio"],
  ["CONV-217 CONV-316 CONV-519: markers of a cache", "cache-markers"],
  ["T36: a line for one vendor's bills", "billing-header"],
  ["T31 CONV-215 CONV-314 CONV-416 CONV-516: who asks, and in which session", "session"],
  ["CONV-211 CONV-310 CONV-412 CONV-511: an answer by a schema", "json-schema"],
  ["CONV-214 CONV-313 CONV-415 CONV-515: any JSON object, in few words", "json-object"],
  [
    "T29 T32 CONV-210 CONV-309 CONV-411 CONV-510: some of the tools, one at a time",
    "parallel-and-choice",
  ],
  ["T32 CONV-209 CONV-308 CONV-410 CONV-509: a tool that must be called", "forced-tool"],
  ["T28 T34 CONV-419 CONV-420: effort, and sampling beside it", "effort"],
  ["CONV-218 CONV-317: a budget for reasoning", "budget"],
  ["T40 T41 CONV-219: earlier reasoning, signed", "reasoning-history"],
  ["T39: a tool loop that began with reasoning", "reasoning-tool-loop"],
  ["CONV-101 CONV-104 CONV-105: fields of one protocol only", "direct-only"],
  ["CONV-112: searching the web", "web-search"],
  ["CONV-601: neighbours of one role", "neighbours"],
  ["T30 CONV-202 CONV-302 CONV-402 CONV-502: a maximum by its newer name", "maximum"],
];

const checks: readonly (readonly [title: string, check: Check])[] = [
  ["is the same exchange in all four protocols", sameExchange],
  ["is refused where the upstream cannot take it, and nowhere else", refusals],
  ["asks upstreams of other protocols the same, and tells what is dropped", requests],
  ["asks its own protocol's upstream all there was", directRequests],
  ["T47: asks for a stream, and its usage, in the upstream's way", streamingRequests],
  ["T37: gives the whole answer to callers of other protocols, without secrets", wholeAnswers],
  ["gives the whole answer to callers of its own protocol", directAnswers],
  ["T44: gives a legal stream that adds up to the whole answer", streams],
  ["gives its own stream to callers of its own protocol", directStreams],
  ["T14 T15: gives one form where the upstream gave the other", otherForms],
  ["T17: is the same wherever its streams are cut", byteCuts],
  ["T16: ends as an error wherever its streams end too early", earlyEnds],
];

/** Places in a stream: all in the long form; every fifth in the short one, different ones each day. */
const share = inForm(5, 1);
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

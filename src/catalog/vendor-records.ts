/**
 * The records of the built-in vendors' models, by the vendors' own names, from their public documentation of November 2026.
 * Undocumented abilities are left out, so the gateway passes those fields on. docs/models.md.
 */
import type { ToolChoiceAbility } from "../base/abilities.ts";
import type { ModelRecord } from "./record.ts";

const lacks = (...names: readonly string[]): Record<string, false> =>
  Object.fromEntries(names.map((name) => [name, false] as const));
/** Parameters that reasoning models do not take. */
const unsampled = ["presence_penalty", "frequency_penalty", "logit_bias", "stop"];

const allChoices: ToolChoiceAbility = { modes: ["auto", "none", "required", "named"] };
const seesText: ModelRecord = {
  inputModalities: ["text", "image", "pdf"],
  outputModalities: ["text"],
};
const acceptsAllMedia: ModelRecord = {
  inputModalities: ["text", "image", "audio", "video", "pdf"],
  outputModalities: ["text"],
};

/** It takes no sampling parameters, an effort controls its reasoning, and tool calls cannot be forced. */
const claude55: ModelRecord = {
  ...seesText,
  parameters: lacks("temperature", "top_p", "top_k"),
  toolChoice: { modes: ["auto", "none"] },
  structuredOutputs: true,
  prefill: false,
};
const claudeEfforts = ["low", "medium", "high", "xhigh", "max"];

export const vendorRecords: Readonly<Record<string, ModelRecord>> = {
  "gpt-6.2-sol": {
    ...seesText,
    parameters: lacks("temperature", "top_p", "logprobs", "top_logprobs", ...unsampled),
    reasoning: {
      kind: "effort",
      values: ["low", "medium", "high", "xhigh", "max"],
      off: false,
    },
    toolChoice: allChoices,
    structuredOutputs: true,
  },
  "gpt-5.4": {
    ...seesText,
    parameters: lacks(...unsampled),
    reasoning: {
      kind: "effort",
      values: ["low", "medium", "high", "xhigh"],
      off: true,
      // Without an effort it does not reason, and then takes these.
      excludes: ["temperature", "top_p", "logprobs", "top_logprobs"],
    },
    toolChoice: allChoices,
    structuredOutputs: true,
  },
  "claude-opus-5-5": {
    ...claude55,
    reasoning: { kind: "adaptive", values: claudeEfforts, off: false },
  },
  "claude-sonnet-5-5": {
    ...claude55,
    reasoning: {
      kind: "adaptive",
      values: claudeEfforts,
      off: true,
      offAs: "between_tools",
    },
  },
  "gemini-3.8-flash": {
    ...acceptsAllMedia,
    parameters: lacks("presence_penalty", "frequency_penalty"),
    reasoning: { kind: "effort", values: ["low", "medium", "high"], off: false },
    toolChoice: allChoices,
    structuredOutputs: true,
  },
  "gemini-3.1-pro-preview": {
    ...acceptsAllMedia,
    parameters: lacks("presence_penalty", "frequency_penalty"),
    reasoning: { kind: "effort", values: ["low", "medium", "high"], off: false },
    toolChoice: allChoices,
    structuredOutputs: true,
    lifecycle: { stage: "preview" },
  },
  "grok-4.7": {
    inputModalities: ["text", "image"],
    outputModalities: ["text"],
    parameters: lacks("presence_penalty", "frequency_penalty", "stop"),
    reasoning: { kind: "effort", values: ["low", "medium", "high", "xhigh"], off: false },
    toolChoice: allChoices,
    structuredOutputs: true,
  },
  "qwen3-max": {
    inputModalities: ["text"],
    outputModalities: ["text"],
    reasoning: { kind: "none" },
  },
  "seed-2-0-lite-260228": {
    inputModalities: ["text", "image", "video"],
    outputModalities: ["text"],
    // `minimal` turns reasoning off.
    reasoning: { kind: "effort", values: ["minimal", "low", "medium", "high"], off: false },
  },
};

/** Chat caller, chat upstream: the gateway forwards the caller's body and changes only the necessary fields (TXT-07 to TXT-11, T47). */
import { exactTwinOf } from "../../base/exact-numbers.ts";
import { isObject } from "../../base/json.ts";
import type { JsonObject, MaximumField } from "../canonical/request.ts";
import type { AnswerSettings, DirectCodec, UpstreamAddress, WireError } from "../codec.ts";
import { removeEmptyTools } from "../empty-tools.ts";
import { removeFilteredFields } from "../filter.ts";
import { isSet, objects } from "../read.ts";
import { completeAnswer } from "./complete-answer.ts";
import { decodeError } from "./errors.ts";
import { answerPictures, answerText, readFacts } from "./facts.ts";
import { namesTool } from "./finish.ts";
import { fitHistory } from "./fit-history.ts";
import { fitVendor } from "./fit-vendor.ts";
import { framesOf, answerFromFrames } from "./stream-conversion.ts";
import { withoutProofs } from "./proofs.ts";
import { writeCommonly } from "./mistral-spellings.ts";
import { removeRefused } from "./refused-members.ts";
import { ChatTap } from "./tap.ts";
import { misreports, normaliseUsage, readUsage, writeUsage } from "./usage.ts";
import { checkChatRequest } from "./wire.ts";

function directRequest(body: JsonObject, upstream: UpstreamAddress) {
  const copy: JsonObject = { ...body, model: upstream.model };
  const { refusedMembers = [] } = upstream;
  writeCommonly(copy);
  const notes = [
    ...removeFilteredFields(copy),
    ...fitHistory(copy, upstream),
    ...fitVendor(copy, upstream),
    ...removeRefused(copy, refusedMembers),
  ];
  removeEmptyTools(copy, { tool_choice: ["auto", "none"], parallel_tool_calls: undefined });
  if (upstream.maximumField) renameMaximum(copy, upstream.maximumField);
  if (upstream.stream !== (copy["stream"] === true)) copy["stream"] = upstream.stream;
  if (upstream.stream) {
    // Without it the stream reports no usage, and the gateway would bill an estimate (T47).
    const options = exactTwinOf(copy["stream_options"]);
    copy["stream_options"] = { ...(isObject(options) ? options : {}), include_usage: true };
  } else if (copy["stream_options"] !== undefined && body["stream"] === true) {
    // The caller wants a stream and the upstream gives none: it would refuse stream options.
    delete copy["stream_options"];
  }
  return { body: copy, notes };
}

/** Gives the maximum of output tokens the only name that the upstream accepts. The newer name counts if both are set (T30). */
function renameMaximum(body: JsonObject, name: MaximumField): void {
  const { max_completion_tokens: newer, max_tokens: older } = body;
  const maximum = isSet(newer) ? newer : older;
  delete body["max_completion_tokens"];
  delete body["max_tokens"];
  if (maximum !== undefined) body[name] = maximum;
}

function directAnswer(
  answer: JsonObject,
  model: string,
  request: AnswerSettings = {},
  createdAt = 0,
): JsonObject {
  answer["model"] = model;
  completeAnswer(answer, { namesTool: namesTool(request), createdAt });
  if (isObject(answer["usage"])) answer["usage"] = normaliseUsage(answer["usage"]);
  return answer;
}

function failure(answer: JsonObject): WireError | undefined {
  const choices = objects(answer["choices"]);
  if (answer["error"] || choices.length === 0) return decodeError(200, answer);
  const broken = choices.find((choice) => choice["finish_reason"] === "error");
  return broken && decodeError(200, broken);
}

/** The direct route of chat-completions. */
export const chatDirect: DirectCodec = {
  validate: checkChatRequest,
  facts: readFacts,
  request: directRequest,
  withoutProofs,
  failure,
  usage: (answer) => readUsage(answer["usage"]),
  misreportsUsage: (answer) => misreports(answer["usage"]),
  text: answerText,
  pictures: answerPictures,
  answer: directAnswer,
  withUsage: (answer, usage) => ({ ...answer, usage: writeUsage(usage) }),
  framesOf,
  answerFromFrames,
  tap: (options) => new ChatTap(options),
};

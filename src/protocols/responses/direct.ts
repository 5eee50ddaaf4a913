/**
 * Responses caller, responses upstream: the gateway forwards the caller's body and changes only the necessary fields (TXT-07 to TXT-11,
 * RESP-16, RESP-27, RESP-29, RESP-39, RESP-41).
 */
import type { Note } from "../../base/notes.ts";
import { isObject } from "../../base/json.ts";
import type { JsonObject } from "../canonical/request.ts";
import type { DirectCodec, UpstreamAddress, WireError } from "../codec.ts";
import { picturesIn, withImageTool } from "../image-tool.ts";
import { orReported, usesIn, withUses } from "../tool-uses.ts";
import { removeEmptyTools } from "../empty-tools.ts";
import { removeFilteredFields } from "../filter.ts";
import { isSet } from "../read.ts";
import { decodeError } from "./errors.ts";
import { answerText, readFacts } from "./facts.ts";
import { fitHistory } from "./fit-history.ts";
import { framesOf, answerFromFrames } from "./stream-conversion.ts";
import { withoutProofs } from "./proofs.ts";
import { completeResponse } from "./response-object.ts";
import { ResponsesTap } from "./tap.ts";
import { misreports, readUsage, writeUsage } from "./usage.ts";
import { checkResponsesRequest } from "./wire.ts";

function directRequest(body: JsonObject, upstream: UpstreamAddress) {
  const copy: JsonObject = { ...body, model: upstream.model };
  const notes = removeFilteredFields(copy);
  if (upstream.stream !== (copy["stream"] === true)) copy["stream"] = upstream.stream;
  if (Object.hasOwn(copy, "previous_response_id")) {
    if (copy["previous_response_id"] !== null) {
      notes.push(dropped("previous_response_id", "no state is kept, dropped"));
    }
    delete copy["previous_response_id"];
  }
  const { tools } = copy;
  if (Object.hasOwn(copy, "parallel_tool_calls") && !(Array.isArray(tools) && tools.length > 0)) {
    if (copy["parallel_tool_calls"] !== null)
      notes.push(dropped("parallel_tool_calls", "sent only with tools, dropped"));
    delete copy["parallel_tool_calls"];
  }
  // A stored prompt may have tools, and so may an item that adds some: only `auto` has no effect then either.
  if (!isSet(copy["prompt"])) removeEmptyTools(copy, { tool_choice: ["auto"] });
  notes.push(...fitHistory(copy, upstream), ...filterStreamOptions(copy));
  return { body: copy, notes };
}

const dropped = (param: string, detail: string): Note => ({ param, kind: "dropped", detail });

/** Removes all members of `stream_options` but the one allowed (RESP-39). */
function filterStreamOptions(copy: JsonObject): Note[] {
  const options = copy["stream_options"];
  if (!isObject(options)) return [];
  const { include_obfuscation: kept, ...others } = options;
  const names = Object.keys(others);
  if (names.length === 0) return [];
  if (kept === undefined) delete copy["stream_options"];
  else copy["stream_options"] = { include_obfuscation: kept };
  return names.map((name) =>
    dropped(`stream_options.${name}`, "not a stream option here, dropped"),
  );
}

/** A failed response is no answer; one still in progress (`background`) is. */
function failure(answer: JsonObject): WireError | undefined {
  const { output, status } = answer;
  const isAnswer = Array.isArray(output) && status !== "failed" && status !== "cancelled";
  return isAnswer ? undefined : decodeError(200, answer);
}

/** True if the caller asked for `background`: only the vendor will know the outcome. */
const isInProgress = ({ status, usage }: JsonObject): boolean =>
  (status === "queued" || status === "in_progress") && readUsage(usage) === undefined;

/** The direct route of the responses protocol. */
export const responsesDirect: DirectCodec = {
  validate: checkResponsesRequest,
  facts: readFacts,
  request: directRequest,
  withoutProofs,
  failure,
  isInProgress,
  usage: (answer) =>
    withImageTool(
      withUses(readUsage(answer["usage"]), orReported(usesIn(answer["output"]), answer["usage"])),
      answer["tool_usage"],
      picturesIn(answer["output"]),
    ),
  misreportsUsage: (answer) => misreports(answer["usage"]),
  text: answerText,
  answer(answer, model, _request, createdAt) {
    completeResponse(answer, model, createdAt === undefined ? {} : { createdAt });
    return answer;
  },
  withUsage: (answer, usage) => ({ ...answer, usage: writeUsage(usage) }),
  framesOf,
  answerFromFrames,
  tap: (options) => new ResponsesTap(options),
};

/** Members of stream events that change nothing for callers of other protocols, with reasons. Losses of whole answers are in lost.ts. */
import type { ProtocolName } from "../../src/protocols/index.ts";
import type { Lost } from "./lost.ts";

/** Maps places in events to places in the whole answer. */
const wholePlaces: Readonly<Record<ProtocolName, readonly (readonly [RegExp, string])[]>> = {
  chat: [
    [/^choices\[\]\.delta\b/, "choices[].message"],
    [/^/, ""],
  ],
  responses: [
    [/^:response\.output_item\.(?:added|done)\.item/, "output[]"],
    [/^:response\.content_part\.(?:added|done)\.part/, "output[]:message.content[]"],
    [
      /^:response\.output_text\.annotation\.added\.annotation/,
      "output[]:message.content[]:output_text.annotations[]",
    ],
    [/^:response\.\w+\.response\./, ""],
  ],
  messages: [
    [/^:content_block_start\.content_block/, ":message.content[]"],
    [
      /^:content_block_delta\.delta:citations_delta\.citation/,
      ":message.content[]:text.citations[]",
    ],
    [/^:message_start\.message/, ""],
    [/^:message_delta(?:\.delta)?\./, ":message."],
  ],
  generate_content: [[/^/, ""]],
};

/** The place in the whole answer. Undefined if the whole answer has no such place. */
export function wholePlaceOf(protocol: ProtocolName, place: string): string | undefined {
  const found = wholePlaces[protocol].find(([places]) => places.test(place));
  return found && place.replace(...found);
}

export const lostOfStreams: Readonly<Record<ProtocolName, readonly Lost[]>> = {
  chat: [
    ["who speaks, which nobody else asks", /\.role$/],
    ["a call of one kind has nothing of the other", /\.tool_calls\[\]:function\.(?:custom|type)\b/],
    ["that it ends as answers do", /\.finish_reason$/],
    ["bytes against those who count them", /^obfuscation$/],
    ["no counts", /^usage$/],
  ],
  responses: [
    [
      "where in the stream it stands, which callers are told anew",
      /\.(?:sequence_number|item_id|\w+_index)$/,
    ],
    ["bytes against those who count them", /\.obfuscation$/],
    ["nobody else asks for token probabilities, and the wish for them is reported", /\.logprobs\b/],
    ["sound, which no model of the protocol makes", /^:response\.audio\b/],
    [
      "how far the vendor's own tools are",
      /^:response\.(?:code_interpreter_call|file_search_call|web_search_call|mcp_call|mcp_list_tools|shell_call|compaction)/,
    ],
    ["a draft of a picture", /^:response\.image_generation_call/],
    ["how a thought's part ended", /^:response\.reasoning_summary_part\.done\.status$/],
    ["files of one kind for another", /\.annotation$/],
    ["of which member the vendor complains: of our request", /^:error\.param$/],
  ],
  messages: [
    ["where in the stream it stands, which callers are told anew", /\.index$/],
    [
      "what is told again at the end",
      /^:message_start\.message:message\.(?:usage\.output_tokens|stop_\w+)\b/,
    ],
    ["documents of one kind for another", /\.citation$/],
    ["a guess at counts", /\.estimated_tokens$/],
    ["steps of the vendor's own", /:compaction_delta\./],
    ["it proves something to its own vendor only", /:signature_delta\.signature$/],
  ],
  generate_content: [
    ["others have no such words of an end", /^candidates\[\]\.finishReason$/],
    ["that more comes", /\.willContinue$/],
    ["it proves something to its own vendor only", /\.thoughtSignature$/],
    ["a part of nothing", /^candidates$/],
  ],
};

/** Members that only streams have, so that there is no whole answer to compare with. */
export const streamsOnly = /\.(?:partialArgs|willContinue)\b/;

/** Members of vendors' answers that do not reach callers of other protocols, by their place in the SDK types, with reasons. */
import type { ProtocolName } from "../../src/protocols/index.ts";

/** `only`: lost only for callers of this protocol. */
export type Lost = readonly [why: string, places: RegExp, only?: ProtocolName];

/** The losses by upstream protocol. Places include kinds. */
export const lostOfAnswers: Readonly<Record<ProtocolName, readonly Lost[]>> = {
  chat: [
    [
      "the gateway names the answer and its time itself",
      /^(?:id|created|model|system_fingerprint)$/,
    ],
    ["the vendor's own notes", /^(?:service_tier|metadata|moderation)\b/],
    ["nobody else asks for token probabilities, and the wish for them is reported", /\.logprobs\b/],
    ["nobody else asks for sound, and the wish for it is reported", /\.audio\b/],
    ["no two of these characters are of a text of four", /_citation\.(?:start|end)_index$/],
    [
      "sums of counts, and counts that cost what others do",
      /^usage\.(?:total_tokens|\w+_details(?:\.(?:text_tokens|(?:accepted|rejected)_prediction_tokens))?)$/,
    ],
  ],
  responses: [
    [
      "what the request said, which the caller knows, and the vendor's state of it",
      /^(?!output\b|usage\b|status\b|error\b|incomplete_details\b)/,
    ],
    [
      "steps of the vendor's own tools, which nobody else can ask for",
      /^output\[\]:(?!message|reasoning|function_call\b(?!_)|custom_tool_call\b(?!_)|image_generation_call)/,
    ],
    ["that it is complete", /^status$/],
    ["ids and states of items", /^output\[\]:\w+\.(?:id|status|phase)$/],
    ["who of the vendor's own programs calls", /_call\.(?:async|caller)\b/],
    ["nobody else sends tools within namespaces: none is called", /_call\.namespace\b/],
    ["how a picture was made", /^output\[\]:image_generation_call(?!\.result)/],
    ["raw thoughts beside their summary", /^output\[\]:reasoning\.content\b/],
    ["it proves something to its own vendor only", /\.encrypted_content$/],
    ["nobody else asks for token probabilities, and the wish for them is reported", /\.logprobs\b/],
    [
      "chat has no place for files",
      /:(?:container_file_citation|file_citation|file_path)\b/,
      "chat",
    ],
    [
      "which part of a text a file is for, and in what it was made, has a place here only",
      /:container_file_citation\.(?:container_id|start_index|end_index)$|:file_path\.index$/,
    ],
    [
      "a file that is cited twice is one piece of Google's",
      /:container_file_citation$/,
      "generate_content",
    ],
    ["Google numbers no files", /:file_citation\.index$/, "generate_content"],
    ["no two of these characters are of a text of four", /:url_citation\.(?:start|end)_index$/],
    ["for how long a cache keeps what was written", /^usage\..*\.cache_write_tokens_details\b/],
    ["a sum of counts", /^usage\.total_tokens$/],
    ["why it is incomplete is told where it is", /^incomplete_details\b/],
  ],
  messages: [
    ["the gateway names the answer itself", /^:message\.(?:id|model)$/],
    [
      "the vendor's own state and notes",
      /^:message\.(?:container|context_management|diagnostics|input_transformations)\b/,
    ],
    [
      "steps of the vendor's own tools, which nobody else can ask for",
      /^:message\.content\[\]:(?!text\b|thinking\b|tool_use\b)/,
    ],
    ["it proves something to its own vendor only", /:thinking\.signature$|\.encrypted_index$/],
    ["who of the vendor's own programs calls", /:tool_use\.(?:caller|toolset_name)\b/],
    [
      "chat has no place for files",
      /:(?:char_location|page_location|content_block_location|search_result_location)\b/,
      "chat",
    ],
    [
      "which part of a document says so has a place here only",
      /:\w+_location\.(?:start|end)_(?:char_index|page_number|block_index)$/,
    ],
    [
      "a file that is cited twice with the same words is one piece of Google's",
      /:(?!web_)\w+_location$/,
      "generate_content",
    ],
    ["responses has no words of a file", /:\w+_location\.cited_text$/, "responses"],
    ["Google numbers no files", /\.(?:document_index|search_result_index)$/, "generate_content"],
    ["what a page says has a place in messages only", /:web_search_result_location\.cited_text$/],
    ["others have no such words of an end", /^:message\.stop_(?:reason|sequence)$/],
    ["why it was refused is told where it was", /^:message\.stop_details\b/],
    [
      "the vendor's own notes on its counts, and steps that they count",
      /^:message\.usage\.(?:fallback_credit|inference_geo|service_tier|speed|iterations\[\]:(?:fallback_)?message)\b/,
    ],
    ["what those of an hour leave of all writes to a cache", /\.ephemeral_5m_input_tokens$/],
    ["pages that were fetched cost what their words do", /\.web_fetch_requests$/],
  ],
  generate_content: [
    [
      "the gateway names the answer and its time itself",
      /^(?:responseId|modelVersion|createTime)$/,
    ],
    ["the SDK's own", /^(?:sdkHttpResponse|automaticFunctionCallingHistory)\b/],
    ["the vendor's own notes", /^modelStatus\b/],
    ["why a prompt was blocked is told where it was", /^promptFeedback\b/],
    ["sums of counts", /^usageMetadata\.(?:totalTokenCount|initialPromptTokenCount)$/],
    ["the vendor's own notes on its counts", /^usageMetadata\.trafficType$/],
    [
      "notes on an answer",
      /^candidates\[\]\.(?:avgLogprobs|continuationToken|finishMessage|safetyRatings|tokenCount|logprobsResult|urlContextMetadata|index)\b/,
    ],
    ["pages, which a text must stand beside", /\.(?:groundingMetadata|citationMetadata)\b/],
    [
      "steps of the vendor's own tools, which nobody else can ask for",
      /\.parts\[\]\.(?:toolCall|toolResponse|executableCode|codeExecutionResult|functionResponse)\b/,
    ],
    [
      "how a part was made or is to be read",
      /\.parts\[\]\.(?:mediaResolution|audioTranscription|videoMetadata|partMetadata|mediaProcessing|speechMetadata|thought)\b/,
    ],
    [
      "a picture of no type, and any where the caller has no place for it (made-pictures.test.ts)",
      /\.parts\[\]\.(?:inlineData|fileData)\b/,
    ],
    ["a part of nothing", /^candidates\[\]\.content(?:\.parts|\.role)?$/],
  ],
};

/** True if the member at a place is lost for callers of a protocol; without `caller`, for callers of any. */
export const lostIn =
  (reasons: readonly Lost[]) =>
  (place: string, caller?: ProtocolName): boolean =>
    reasons.some(([, places, only = caller]) => only === caller && places.test(place));

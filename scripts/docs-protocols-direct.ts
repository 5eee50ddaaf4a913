/** The changes on direct routes, for docs/protocols.md. */
import { filteredFields } from "../src/protocols/filter.ts";

const filtered = filteredFields.map((name) => `\`${name}\``).join(", ");

/** Returns the section of direct routes. */
export const direct = (): string => `## Direct routes

Everything passes, including fields that the gateway does not know. These are the changes:

- \`model\` becomes the upstream's name for the model. In the answer it is the gateway's id again.
- ${filtered} are never forwarded,
  because the vendor would then bill another price than the call is charged. The operator sets them for all calls of a provider with
  \`request.add\`.
- Tools and plugins by which the vendor would run another model of the caller's choice are removed. These are Anthropic's
  advisor, OpenRouter's advisor, fusion, subagent and image tools, \`models\` in Groq's \`compound_custom\` and Vertex AI's \`routingConfig\` and
  \`modelConfig\`. So are
  ZenMux's, LiteLLM's and Orq's fallbacks, Orq's \`load_balancer\`, and the filtered fields within Vercel's \`providerOptions\` and LiteLLM's
  \`extra_body\`. The key's allowlist does not hold for such a model, and its tokens cost another price.
- Headers in a body, which LiteLLM would send to the vendor (\`extra_headers\`, \`headers\`, \`provider_specific_header\`), are removed and
  reported. They could choose a tier, or replace the operator's key.
- A chat stream is asked for its usage. The caller sees it only if the caller asked for it.
- Token counts of an answer that cannot be true (negative, fractions, above a thousand million) are replaced by the
  estimate that the call is charged by.
- Members that clients require and some vendors leave out are added: ids, kinds and numbers of answers, choices and calls,
  arguments of calls, roles, a finish reason. So are the details of a usage. Items of responses get their id, role, status
  and empty list or text, and events their numbers. Blocks of messages get their empty members, and ends the stop members. Times become whole seconds,
  and a list of thoughts and texts as content, as Mistral's models answer, becomes a text and \`reasoning_content\`.
  Empty roles and finish reasons, a \`status\` of null, and
  service tiers that OpenAI does not have, such as \`on_demand\`, are left out.
- A field that the model does not support (\`parameters\` in the configuration) is dropped and reported.
- Claude Code's billing line (\`x-anthropic-billing-header\`) is left out if the model has another vendor's name, such as Kimi.
- Ids of calls that Claude refuses, such as Kimi's \`functions.look:0\`, are replaced.
- OpenAI and Azure refuse long ids of calls, ids of items that are not their own, and reasoning that is neither encrypted nor stored there.
  They also refuse the text of reasoning beside its encryption. A conversation that another vendor began goes without all of these. That is
  reported.
- A model of OpenAI or Azure that does not reason gets no earlier reasoning, and \`include\` asks for none. Both refuse that. It is
  reported. They also refuse searches of the kind \`other\`, which Codex sends for kinds that it does not know; \`search\` is sent.
- Mistral's clients write \`"tool_choice": "any"\` and a picture's address in place of the object \`image_url\`. Every chat upstream gets OpenAI's
  \`required\` and \`{"url": ...}\`, which Mistral takes too.
- Ids of calls that Mistral's models refuse are replaced by nine characters. That is reported. Kimi, DeepSeek and MiMo get earlier reasoning
  as \`reasoning_content\`, which they require in conversations with calls, or a blank if it is missing.
- DeepSeek requires thinking in earlier answers of a conversation with tools. It gets that of other vendors, or a blank if it is missing.
- Claude before Opus 4.8, and MiniMax, refuse system turns within a conversation, as Claude Code sends them to newer models. They stay in
  place, as turns of the user between \`<system-reminder>\` and \`</system-reminder>\`. That is reported.
- Claude refuses thinking blocks without a signature, as Kimi gives them, and with those of MiniMax and DeepSeek. They are left out, which
  is reported.
- Models other than Claude, such as GLM and DeepSeek, refuse some regular expressions in Claude Code's tools (\`pattern\`). In messages these
  become part of descriptions, [as in conversion](#schemas). That is reported.
- Claude refuses texts of white space only, which other vendors and Claude Code leave in the history. They are left out. An otherwise empty
  message gets a placeholder, as does an earlier answer that ends with thinking.
- Claude refuses \`thinking\` with a budget in a tool loop, or an answer, that another vendor began. It is left out until the
  user's next question, and so is the edit \`clear_thinking\`, which requires it. That is reported.
- Google's SDKs keep each chunk of a streamed answer as a content of its own, and Google then refuses the results of its parallel calls.
  Such contents go as one.
- Gemini 3 and later refuse a chat conversation if the first call of an answer has no signature. An unsigned one gets Google's marker in
  its \`extra_content\`, converted or not.
- Cloudflare's Workers AI refuses \`null\` as a content. It gets an empty text beside calls.
- DeepSeek, Alibaba, Z.AI, Mistral, Cerebras, Vercel's gateway and others refuse the role \`developer\`, and so do most models on local
  servers. Such turns go with the role \`system\`, which means the same.
- LM Studio refuses a choice that names a tool. It is offered only this tool, and a call is required. That is reported.
- Only OpenAI and Azure know messages between agents (\`agent_message\`), as Codex sends them. Elsewhere they go as messages of the user,
  converted or not. That is reported. OpenAI encrypts some tasks: these are sent on unchanged, and refused in conversion.
- Some vendors and models answer only by a stream, such as Qwen3 and QwQ at Alibaba. If a whole answer is asked for, their stream is collected.
- Groq, Cerebras, Mistral and Databricks refuse \`reasoning_content\`. They do not get earlier reasoning, converted or not.
- Fireworks, Groq, Cerebras and Mistral refuse members of earlier answers that they do not know: signatures of Gemini's calls, sources,
  \`refusal\`, also if empty, and cache markers. Mistral also refuses \`name\`. A refusal goes as text, also to DeepSeek. All but empty
  members are reported.
- Fireworks and OpenCode Zen take earlier reasoning as \`reasoning_content\` only.
- Vendors also do not get parameters of OpenAI that they refuse, such as \`store\` and \`prompt_cache_key\`. That is reported.`;

// The content of canonical parts as far as a protocol can carry it: the stated limits of answers, one function a protocol.
import type { Usage } from "../../src/base/usage.ts";
import type { Part, Signature } from "../../src/protocols/canonical/request.ts";
import type { ProtocolName } from "../../src/protocols/index.ts";

type Content =
  | { readonly text: string }
  | { readonly refusal: string }
  | { readonly thought: string; readonly signature?: string }
  | { readonly call: string; readonly id: string; readonly arguments: unknown };

/** The content of one part, with signatures of this protocol only. Refusals become text in other protocols. */
function contentOf(part: Part, protocol: ProtocolName): Content[] {
  const own = (signature: Signature | undefined): { signature?: string } =>
    signature?.protocol === protocol ? { signature: signature.value } : {};
  switch (part.type) {
    case "text":
      return part.text === "" ? [] : [{ text: part.text }];
    case "refusal": {
      const hasRefusals = protocol === "chat" || protocol === "responses";
      return [hasRefusals ? { refusal: part.text } : { text: part.text }];
    }
    case "reasoning": {
      const signature = own(part.signature);
      return part.text === "" && signature.signature === undefined
        ? []
        : [{ thought: part.text, ...signature }];
    }
    case "tool_call": {
      const json = part.arguments === "" ? "{}" : part.arguments;
      const signed = protocol === "generate_content" ? own(part.signature) : {};
      return [{ call: part.name, id: part.id, arguments: JSON.parse(json) as unknown, ...signed }];
    }
    default:
      return [];
  }
}

/** Joins neighbouring texts. In generateContent it also joins thoughts up to their signature. */
function joined(said: readonly Content[], protocol: ProtocolName): Content[] {
  const result: Content[] = [];
  for (const one of said) {
    const last = result.at(-1);
    if (last && "text" in last && "text" in one) {
      result[result.length - 1] = { text: last.text + one.text };
    } else if (
      protocol === "generate_content" &&
      last &&
      "thought" in last &&
      "thought" in one &&
      last.signature === undefined
    ) {
      result[result.length - 1] = { ...one, thought: last.thought + one.thought };
    } else result.push(one);
  }
  return result;
}

/**
 * The content that an answer of this protocol keeps. Chat separates its kinds of content, the others keep their order. Chat has
 * one text for all thoughts, and `paragraph` separates them there. It is empty for streamed thoughts, which contain their own
 * blank lines.
 */
export function said(
  parts: readonly Part[],
  protocol: ProtocolName,
  paragraph: string = "\n\n",
): unknown {
  const all = parts.flatMap((part) => contentOf(part, protocol));
  if (protocol !== "chat") return joined(all, protocol);
  const thoughts = all.flatMap((one) => ("thought" in one ? [one] : []));
  const details = thoughts.flatMap(({ signature }) =>
    signature === undefined ? [] : (JSON.parse(signature) as unknown[]),
  );
  return {
    thoughts: thoughts.flatMap(({ thought }) => (thought === "" ? [] : [thought])).join(paragraph),
    details,
    text: all.map((one) => ("text" in one ? one.text : "")).join(""),
    refusal: all.map((one) => ("refusal" in one ? one.refusal : "")).join(""),
    calls: all.filter((one) => "call" in one),
  };
}

/** The content with calls apart from the text. If both come at once, only the order within each is kept. */
export function saidApart(
  parts: readonly Part[],
  protocol: ProtocolName,
  paragraph?: string,
): unknown {
  const isCall = (part: Part): boolean => part.type === "tool_call";
  return {
    words: said(
      parts.filter((part) => !isCall(part)),
      protocol,
      paragraph,
    ),
    calls: said(parts.filter(isCall), protocol),
  };
}

/** The usage as far as a protocol reports it. `upstream` is the protocol of the vendor that reported it. */
export function usageIn(
  usage: Usage | undefined,
  protocol: ProtocolName,
  upstream: ProtocolName,
): Usage | undefined {
  if (!usage) return undefined;
  switch (protocol) {
    case "messages":
      return { ...usage, reasoningTokens: upstream === "messages" ? usage.reasoningTokens : 0 };
    case "generate_content":
      return { ...usage, cacheWriteTokens: 0, cacheWrite1hTokens: 0 };
    default:
      return { ...usage, cacheWrite1hTokens: 0 };
  }
}

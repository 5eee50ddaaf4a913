/**
 * Sets the model name in chunks and removes their usage, without a stringify if possible. Most chunks of a stream share the bytes up to the
 * model name: only those are replaced, and the rest passes unchanged.
 */
import { exactTwinOf } from "../../base/exact-numbers.ts";
import type { WireObject } from "../../base/json.ts";

/** Returns the chunk's text; `chunk` is the parsed `data`, whose usage the caller has already read. */
export type Rewrite = (data: string, chunk: WireObject) => string;

const usageNull = ',"usage":null';

/** Creates the rewriter of one stream. With `wantsUsage` every chunk has `usage: null`; without, none has the key. */
export function createRewrite(model: string, wantsUsage: boolean): Rewrite {
  // The common start of the chunks, up to and including the upstream's model name, and its replacement.
  let from = "";
  let to = "";

  function learnPrefix(data: string, name: unknown): boolean {
    const member = `"model":${JSON.stringify(name)}`;
    const end = data.indexOf(member) + member.length;
    const prefix = data.slice(0, end);
    // Only the chunk's own member: no bracket stands before it but the chunk's first.
    const isTop = end >= member.length && prefix.lastIndexOf("{") === 0 && !prefix.includes("[");
    if (!isTop || !/[{,]$/.test(prefix.slice(0, -member.length))) return false;
    if (prefix.includes(`"usage"`)) return false;
    from = prefix;
    to = `${prefix.slice(0, -member.length)}"model":${JSON.stringify(model)}`;
    return true;
  }

  /** Returns the text after the prefix with the usage key as wanted; undefined if that needs a stringify. */
  function withUsageKey(rest: string, usage: unknown): string | undefined {
    if (wantsUsage) return usage === null ? rest : undefined;
    if (usage === undefined) return rest;
    const at = rest.indexOf(usageNull);
    if (usage !== null || at === -1 || rest.includes(usageNull, at + 1)) return undefined;
    return rest.slice(0, at) + rest.slice(at + usageNull.length);
  }

  return (data, chunk) => {
    // Compared as a slice: `startsWith` takes ten times as long here.
    const isKnown = from !== "" && data.slice(0, from.length) === from;
    if (isKnown || learnPrefix(data, chunk["model"])) {
      const rest = withUsageKey(data.slice(from.length), chunk["usage"]);
      if (rest !== undefined) return to + rest;
    }
    const { usage: _taken, ...others } = exactTwinOf(chunk);
    const kept = { ...others, model };
    return JSON.stringify(wantsUsage ? { ...kept, usage: null } : kept);
  };
}

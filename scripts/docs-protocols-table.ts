/** Tables of docs/protocols.md: a column for each protocol of an upstream. */
import {
  upstreamCodecs,
  upstreamProtocols,
  type UpstreamProtocol,
} from "../src/protocols/index.ts";
import type { Limits } from "../src/protocols/limits.ts";

export const titles: Record<UpstreamProtocol, string> = {
  chat: "chat completions",
  responses: "responses",
  messages: "messages",
  generate_content: "generateContent",
  converse: "Converse",
};

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

export const heads = upstreamProtocols.map((name) => titles[name]);

export const perProtocol = (what: string, cell: (limits: Limits) => string): string[] => [
  what,
  ...upstreamProtocols.map((name) => cell(upstreamCodecs[name].limits)),
];

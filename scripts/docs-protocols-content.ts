/** The content types that each protocol carries, for docs/protocols.md. */
import type { OptionalMember, MediaKind } from "../src/protocols/limits.ts";
import { heads, perProtocol, table } from "./docs-protocols-table.ts";

const mediaKinds: readonly MediaKind[] = ["image", "audio", "video", "file"];
const addresses = ["https://example.com/picture.png", "gs://bucket/picture.png"];

export function content(): string {
  const mediaRow = (kind: MediaKind) =>
    perProtocol(
      kind === "file" ? "Documents (PDF)" : kind[0]!.toUpperCase() + kind.slice(1),
      (one) => {
        const rule = one.media[kind];
        if (rule === "refused") return refusedContent;
        if (rule === "dropped") return "lost";
        const [web, stored] = addresses.map((url) => one.fetchesUrl(url, kind));
        return [
          "carried as base64",
          ...(web ? ["web address"] : []),
          ...(!web && stored ? ["file-store URI"] : []),
        ].join(" or ");
      },
    );
  const extraRow = ([extra, concept]: [string, string]) =>
    perProtocol(concept, (one) => {
      if (one.supportedMembers.includes(extra as OptionalMember)) return "carried";
      return extra === "assistantMedia" ? refusedContent : "lost";
    });
  const textFiles = perProtocol("Documents of text, results of searches", (one) =>
    one.media.file === "refused" ? refusedContent : "carried as text",
  );
  const otherFiles = perProtocol("Other files", (one) =>
    one.media.file === "carried" ? "carried as base64 in formats of the vendor" : refusedContent,
  );
  const elsewhere = perProtocol("Media at a web address that the vendor cannot read", (one) =>
    one.webMedia === "dropped" ? "lost" : refusedContent,
  );
  return table(
    ["content", ...heads],
    [
      ...mediaKinds.map(mediaRow),
      textFiles,
      otherFiles,
      elsewhere,
      ...Object.entries(extras).map(extraRow),
    ],
  );
}

const refusedContent = "the request fails, 400 `unsupported_content`";

const extras: Record<OptionalMember, string> = {
  name: "Name of the speaking user",
  developer: "The role `developer` (otherwise a system turn)",
  detail: "Image detail",
  strict: "`strict` of tools",
  isError: "Error flag of a tool result",
  assistantMedia: "Images that a model made",
};

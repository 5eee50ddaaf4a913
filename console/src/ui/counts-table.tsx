/** The exact billing counts of a call, or of all calls of a period: to compare a bill with the vendors' invoices. */
import { Table } from "@mantine/core";
import { readWhole } from "../base/numbers.ts";

/** In groups: an indented count is part of the one above. */
const names = [
  ["input_tokens", "Input tokens"],
  ["cache_read_tokens", "read from a cache", true],
  ["cache_write_tokens", "written to a cache", true],
  ["cache_write_1h_tokens", "written for an hour", true],
  ["audio_input_tokens", "sound", true],
  ["audio_cache_read_tokens", "audio read from a cache", true],
  ["image_input_tokens", "images", true],
  ["output_tokens", "Output tokens"],
  ["reasoning_tokens", "reasoning", true],
  ["audio_output_tokens", "sound", true],
  ["image_output_tokens", "images", true],
  ["web_searches", "Web searches"],
  ["web_search_answers", "Answers with web searches"],
  ["file_searches", "File searches"],
  ["map_searches", "Google Maps searches"],
  ["map_answers", "Answers with Google Maps"],
  ["attachment_searches", "Searches in attachments"],
  ["code_runs", "Runs of code"],
  ["x_posts", "Posts from X"],
  ["x_profiles", "Profiles from X"],
  ["image_tool_text_tokens", "Image tool: text tokens in"],
  ["image_tool_image_tokens", "Image tool: image tokens in"],
  ["image_tool_output_tokens", "Image tool: tokens out"],
  ["input_images", "Input images"],
  ["output_images", "Output images"],
  ["output_video_seconds", "Seconds of video"],
  ["output_video_tokens", "Tokens of video"],
] as const satisfies readonly (readonly [name: string, title: string, isPart?: true])[];
type CountName = (typeof names)[number][0];
export const countNames: readonly CountName[] = names.map(([name]) => name);

const textOf = (count: unknown): string =>
  typeof count === "number" ? readWhole(count) : String(count);
const known: ReadonlySet<string> = new Set(countNames);

/** `counts`: by API name. Counts with unknown names come last, under their own name. */
export function CountsTable(props: {
  readonly label: string;
  readonly counts: Readonly<Record<string, unknown>>;
}) {
  const { label, counts } = props;
  const others = Object.keys(counts).filter((name) => !known.has(name));
  const all: readonly (readonly [name: string, title: string, isPart?: true])[] = [
    ...names,
    ...others.map((name) => [name, name.replaceAll("_", " ")] as const),
  ];
  const shown = all.filter(([name]) => counts[name] !== undefined);
  return (
    <Table aria-label={label} withRowBorders={false} verticalSpacing={2} fz={13} maw={520}>
      <Table.Tbody>
        {shown.map(([name, title, isPart]) => (
          <Table.Tr key={name}>
            <Table.Th scope="row" fw={500} className="muted" pl={isPart === true ? "1.5em" : 0}>
              {title}
            </Table.Th>
            <Table.Td className="number" ta="right">
              {textOf(counts[name])}
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

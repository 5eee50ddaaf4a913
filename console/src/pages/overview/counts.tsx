/** Every count of the period that may be charged, exactly: for who compares a bill with the vendors' invoices. */
import { Title } from "@mantine/core";
import classes from "./overview.module.css";
import type { Total } from "./tiles.tsx";

/** The counts among what a row of usage has. */
type CountName = { [Name in keyof Total]: Total[Name] extends number ? Name : never }[keyof Total];

/** In groups: what is indented is part of the count above it. */
const names: readonly (readonly [name: CountName & string, title: string, isPart?: true])[] = [
  ["input_tokens", "Input tokens"],
  ["cache_read_tokens", "read from a cache", true],
  ["cache_write_tokens", "written to a cache", true],
  ["cache_write_1h_tokens", "written for an hour", true],
  ["audio_input_tokens", "sound", true],
  ["audio_cache_read_tokens", "sound read from a cache", true],
  ["image_input_tokens", "images", true],
  ["output_tokens", "Output tokens"],
  ["reasoning_tokens", "reasoning", true],
  ["audio_output_tokens", "sound", true],
  ["image_output_tokens", "images", true],
  ["web_searches", "Web searches"],
  ["web_search_answers", "Answers with web searches"],
  ["image_tool_text_tokens", "Image tool: text tokens in"],
  ["image_tool_image_tokens", "Image tool: image tokens in"],
  ["image_tool_output_tokens", "Image tool: tokens out"],
  ["input_images", "Images given"],
  ["output_images", "Images made"],
  ["output_video_seconds", "Seconds of video"],
  ["output_video_tokens", "Tokens of video"],
];

export function Counts({ total }: { total: Total }) {
  const shown = names.filter(([name]) => total[name] > 0);
  if (shown.length === 0) return null;
  return (
    <section aria-label="Counts">
      <Title order={2} size="h4" mb="sm">
        Counts
      </Title>
      <table className={classes["table"]} width="100%" aria-label="Counts">
        <tbody>
          {shown.map(([name, title, isPart]) => (
            <tr key={name}>
              <th
                scope="row"
                className={isPart === true ? "muted" : undefined}
                style={{ textAlign: "left", paddingLeft: isPart === true ? "1.5em" : 0 }}
              >
                {title}
              </th>
              <td className={`${classes["right"]} number`}>
                {total[name].toLocaleString("en-US", { maximumFractionDigits: 6 })}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** Names a downloaded file: its content, the workspace, and the period. Pure. */

const partMax = 60;

/** Keeps letters, marks and digits of any script; replaces the rest by dashes, because file systems may reject it. */
const safe = (text: string): string =>
  text
    .slice(0, partMax)
    .replaceAll(/[^\p{L}\p{M}\p{N}]+/gu, "-")
    .replaceAll(/^-|-$/g, "");

/** "2026-11-01", or with the time if it is not midnight: "2026-11-01T1430Z". */
function momentOf(text: string | undefined): string {
  const ms = Date.parse(text ?? "");
  if (Number.isNaN(ms)) return "";
  const iso = new Date(ms).toISOString();
  return iso.endsWith("T00:00:00.000Z")
    ? iso.slice(0, 10)
    : `${iso.slice(0, 16).replace(":", "")}Z`;
}

interface Handed {
  readonly what: string;
  /** The workspace's name; undefined: all workspaces. */
  readonly workspace: string | undefined;
  readonly from: string | undefined;
  readonly to: string | undefined;
}

/** The name without extension: "ledger_Product_2026-10-01_2026-11-01". */
export const fileNameOf = ({ what, workspace = "", from, to }: Handed): string =>
  [safe(what), safe(workspace), momentOf(from), momentOf(to)]
    .filter((part) => part !== "")
    .join("_");

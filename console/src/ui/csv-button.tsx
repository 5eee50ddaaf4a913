/** A button that downloads a response as a CSV file. */
import { Button } from "@mantine/core";
import { useState } from "react";
import { fetchWithReauth } from "../api/reauth.ts";
import { errorOf, asApiError } from "../api/errors.ts";
import { fileNameOf } from "../base/file-name.ts";
import { saveFile } from "../base/save-file.ts";
import { useWorkspaceNames } from "./workspaces.ts";

/** The longest possible last line. */
const lineMax = 200;

interface CsvButtonProps {
  readonly path: string;
  /** The query, with `from` and `to`; undefined values are not sent. Called when the button is pressed. */
  readonly query: () => Readonly<Record<string, string | undefined>>;
  /** The file's content; its name begins with it. */
  readonly name: string;
  /** The workspace of the rows, if the query names none. */
  readonly workspaceId?: string;
  /** The size of the buttons beside it. */
  readonly size?: "xs" | "sm";
}

/** The last line's notice in a truncated file; undefined if the file is complete. */
async function cutOf(file: Blob): Promise<string | undefined> {
  const [, words] = /\n(cut after [^\r\n]*)\r\n$/.exec(await file.slice(-lineMax).text()) ?? [];
  return words;
}

/** Downloads the file; returns a notice to show, if any. */
async function download(
  { path, query, name, workspaceId }: CsvButtonProps,
  names: ReadonlyMap<string, string>,
): Promise<string | undefined> {
  const asked = query();
  const kept = Object.entries(asked).flatMap(([field, value]) =>
    value === undefined ? [] : [[field, value]],
  );
  const address = new URL(`${path}?${String(new URLSearchParams(kept))}`, location.origin);
  const answer = await fetchWithReauth(new Request(address, { headers: { accept: "text/csv" } }));
  if (!answer.ok) throw await errorOf(answer);
  const file = await answer.blob();
  const { from, to, workspace_id: id = workspaceId } = asked;
  const workspace = id && (names.get(id) ?? id);
  const fileName = `${fileNameOf({ what: name, workspace, from, to })}.csv`;
  saveFile(file, fileName, document.createElement("a"));
  const cut = await cutOf(file);
  return cut && `The file is ${cut}.`;
}

export function CsvButton(props: CsvButtonProps) {
  const names = useWorkspaceNames();
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<string>();
  const run = async () => {
    setBusy(true);
    setFailure(undefined);
    try {
      setFailure(await download(props, names));
    } catch (error) {
      setFailure(asApiError(error).message);
    }
    setBusy(false);
  };
  return (
    <>
      <Button
        size={props.size ?? "xs"}
        variant="default"
        loading={busy}
        onClick={() => void run()}
        aria-label={`Download CSV of ${props.name}`}
      >
        CSV
      </Button>
      {failure !== undefined && (
        <span role="alert" className="bad">
          {failure}
        </span>
      )}
    </>
  );
}

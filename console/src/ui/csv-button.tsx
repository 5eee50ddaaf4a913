/** A button that fetches an answer as a CSV file and hands it to the browser. */
import { Button } from "@mantine/core";
import { useState } from "react";
import { fetchAgain } from "../api/again.ts";
import { errorOf, asApiError } from "../api/errors.ts";

/** No line that is looked for is longer. */
const lineMax = 200;

interface CsvButtonProps {
  readonly path: string;
  /** With `from` and `to`; what is undefined is not sent. Asked for when the button is pressed. */
  readonly query: () => Readonly<Record<string, string | undefined>>;
  /** The file's name, without its ending. */
  readonly name: string;
  /** As the buttons beside it are. */
  readonly size?: "xs" | "sm";
}

/** What the last line of a file says that has not all rows; undefined where it has. */
async function cutOf(file: Blob): Promise<string | undefined> {
  const [, words] = /\n(cut after [^\r\n]*)\r\n$/.exec(await file.slice(-lineMax).text()) ?? [];
  return words;
}

/** Hands the file to the browser; what is to be said of it, if anything. */
async function download({ path, query, name }: CsvButtonProps): Promise<string | undefined> {
  const kept = Object.entries(query()).flatMap(([field, value]) =>
    value === undefined ? [] : [[field, value]],
  );
  const address = new URL(`${path}?${String(new URLSearchParams(kept))}`, location.origin);
  const answer = await fetchAgain(new Request(address, { headers: { accept: "text/csv" } }));
  if (!answer.ok) throw await errorOf(answer);
  const file = await answer.blob();
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file);
  link.download = `${name}.csv`;
  link.click();
  URL.revokeObjectURL(link.href);
  const cut = await cutOf(file);
  return cut && `The file is ${cut}.`;
}

export function CsvButton(props: CsvButtonProps) {
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<string>();
  const run = async () => {
    setBusy(true);
    setFailure(undefined);
    try {
      setFailure(await download(props));
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

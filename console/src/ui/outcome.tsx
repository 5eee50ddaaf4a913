/** How a call ended, in a word and never in a colour alone. */

interface Ended {
  readonly status: string | null;
  readonly http_status: number | null;
  /** The code of the error, where it failed. */
  readonly error?: string | null | undefined;
}

const words: Readonly<Record<string, string>> = {
  succeeded: "ok",
  client_closed: "caller left",
};

export function Outcome({ row }: { row: Ended }) {
  const { status } = row;
  if (status === null) return <span className="muted">unknown</span>;
  if (status === "succeeded") return <span className="ok">ok</span>;
  if (status !== "failed") return <span className="muted">{words[status] ?? status}</span>;
  return (
    <span className="bad">
      {/* Of a task that was taken and failed later the status says nothing. */}
      {row.http_status !== null && row.http_status >= 400 && `${row.http_status} `}
      {row.error ?? "failed"}
    </span>
  );
}

/** The outcome of a call, in a word, never by colour alone. */

interface Ended {
  readonly status: string | null;
  readonly http_status: number | null;
  /** The error code, if it failed. */
  readonly error?: string | null | undefined;
}

const words: Readonly<Record<string, string>> = {
  succeeded: "ok",
  client_closed: "caller disconnected",
};

export function Outcome({ row }: { row: Ended }) {
  const { status } = row;
  if (status === null) return <span className="muted">unknown</span>;
  if (status === "succeeded") return <span className="ok">ok</span>;
  if (status !== "failed") return <span className="muted">{words[status] ?? status}</span>;
  return (
    <span className="bad">
      {/* The HTTP status of a task that was accepted and failed later says nothing. */}
      {row.http_status !== null && row.http_status >= 400 && `${row.http_status} `}
      {row.error ?? "failed"}
    </span>
  );
}

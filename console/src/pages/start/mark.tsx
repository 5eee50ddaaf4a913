/** Shows whether a call of the chosen key has arrived, and its outcome. */
import { Link } from "@tanstack/react-router";
import { readTime } from "../../base/time.ts";
import { Money } from "../../ui/money.tsx";
import { Outcome } from "../../ui/outcome.tsx";
import { useToday } from "../../ui/use-today.ts";
import { useLastCall } from "./queries.ts";

export function Mark({ keyId }: { keyId: string }) {
  const call = useLastCall(keyId);
  const now = useToday();
  return (
    <output
      className="panel"
      style={{ display: "flex", flexWrap: "wrap", gap: 8, marginTop: 12, minHeight: 54 }}
    >
      {call === undefined ? (
        <span className="muted">Waiting for the first request of this key.</span>
      ) : (
        <>
          <Outcome row={call} />
          <Link to="/requests/$id" params={{ id: call.id }} search={({ ws }) => ({ ws })}>
            {readTime(new Date(call.created_at), now)}
          </Link>
          <span style={{ overflowWrap: "anywhere" }}>{call.model}</span>
          <Money amount={call.cost} unit />
        </>
      )}
    </output>
  );
}

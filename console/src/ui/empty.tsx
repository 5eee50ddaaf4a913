/** Shown for empty lists: one sentence and one link. */
import { Button, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";

export function Empty(props: {
  text: string;
  to: "/start" | "/requests" | "/keys" | "/tasks" | "/providers" | "/money/ledger";
  action: string;
}) {
  return (
    <div className="panel">
      <Text mb="md">{props.text}</Text>
      <Button
        renderRoot={(button) => <Link to={props.to} search={({ ws }) => ({ ws })} {...button} />}
      >
        {props.action}
      </Button>
    </div>
  );
}

/** Explains what a list shows and how it fills. */
const abouts = {
  call: "This list will show each call of a key, with its outcome and cost.",
  key: "Programs call the gateway with a key, within its caps. Create one here, or with your first call.",
  task: "This list will show images and videos of the gateway, finished or running.",
} as const;

/** An empty list: there are no rows, or none matches the filters. */
export function NoRows(props: {
  what: keyof typeof abouts;
  to: "/requests" | "/keys" | "/tasks";
  isFiltered: boolean;
}) {
  const { what, to, isFiltered } = props;
  return isFiltered ? (
    <Empty text={`No ${what}s match these filters.`} to={to} action="Remove the filters" />
  ) : (
    <Empty text={`No ${what}s yet. ${abouts[what]}`} to="/start" action="Make your first call" />
  );
}

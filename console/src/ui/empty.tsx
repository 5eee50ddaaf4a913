/** What stands where there is nothing yet: one sentence, one way on. */
import { Button, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";

export function Empty(props: {
  text: string;
  to: "/start" | "/requests" | "/keys" | "/tasks";
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

/** A list without rows: of a kind there are none, or none fits the filters of its page. */
export function NoRows(props: {
  what: string;
  to: "/requests" | "/keys" | "/tasks";
  isFiltered: boolean;
}) {
  const { what, to, isFiltered } = props;
  return isFiltered ? (
    <Empty text={`No ${what} fits these filters.`} to={to} action="Remove the filters" />
  ) : (
    <Empty text={`No ${what}s yet.`} to="/start" action="Make your first call" />
  );
}

/** What stands where there is nothing yet: one sentence, one way on. */
import { Button, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";

export function Empty(props: { text: string; to: "/start" | "/requests"; action: string }) {
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

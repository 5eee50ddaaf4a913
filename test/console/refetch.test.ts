/** Reads that events ask for again: what the page shows meanwhile. */
import { QueryClient, QueryObserver } from "@tanstack/react-query";
import { expect, it } from "vitest";
import { refetchAfterReads } from "../../console/src/ui/refetch-after-reads.ts";

const queryKey = ["get", "/admin/v1/gateways"];

it("a failed read keeps its error during later reads, until one succeeds", async () => {
  const queries = new QueryClient();
  const answers: PromiseWithResolvers<string>[] = [];
  const observer = new QueryObserver(queries, {
    queryKey,
    retry: false,
    queryFn: () => {
      const answer = Promise.withResolvers<string>();
      answers.push(answer);
      return answer.promise;
    },
  });
  const stop = observer.subscribe(() => undefined);
  const shown = () => observer.getCurrentResult();
  const again = async (count: number) => {
    const read = refetchAfterReads(queries, queryKey);
    await expect.poll(() => answers.length).toBe(count);
    return read;
  };
  const first = new Error("first");
  answers[0]!.reject(first);
  await expect.poll(() => shown().error).toBe(first);

  const second = again(2);
  await expect.poll(() => shown().fetchStatus).toBe("fetching");
  expect(shown()).toMatchObject({ status: "error", error: first, data: undefined });
  answers[1]!.reject(new Error("second"));
  await second;
  expect(shown()).toMatchObject({ status: "error", error: { message: "second" } });

  const third = again(3);
  await expect.poll(() => shown().fetchStatus).toBe("fetching");
  answers[2]!.resolve("data");
  await third;
  expect(shown()).toMatchObject({ status: "success", error: null, data: "data" });
  stop();
  queries.clear();
});

/** Numbers that stay while newer ones are read: those of the same question, and of no other one. */

/** What a query keeps of what it was asked for, whatever time it is. */
export const asking = (question: string) => ({
  meta: { question },
  placeholderData<Data>(
    before: Data | undefined,
    of: { readonly meta?: Readonly<Record<string, unknown>> | undefined } | undefined,
  ): Data | undefined {
    return of?.meta?.["question"] === question ? before : undefined;
  },
});

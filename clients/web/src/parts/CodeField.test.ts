import { fireEvent, render, screen } from "@testing-library/svelte";
import { beforeEach, expect, it } from "vitest";
import { router } from "../lib/route.svelte";
import CodeField from "./CodeField.svelte";

beforeEach(() => router.go("/"));

it("forgives how a code is typed and goes to its table", async () => {
  render(CodeField);
  const field = screen.getByRole<HTMLInputElement>("textbox", { name: "Table code" });
  await fireEvent.input(field, { target: { value: " abc-234 " } });
  await fireEvent.click(screen.getByRole("button", { name: "Join" }));
  expect(router.route).toEqual({ page: "table", code: "ABC234" });
  expect(router.errand).toBe("join");
});

it("says what is missing", async () => {
  render(CodeField);
  await fireEvent.input(screen.getByRole("textbox", { name: "Table code" }), { target: { value: "abc" } });
  await fireEvent.click(screen.getByRole("button", { name: "Join" }));
  expect(screen.getByRole("alert").textContent?.trim()).toBe("A code has 6 letters and digits. This one has 3.");
  expect(router.route).toEqual({ page: "home" });
});

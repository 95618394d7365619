import { fireEvent, render, screen } from "@testing-library/svelte";
import { beforeEach, expect, it, vi } from "vitest";
import Joining from "./Joining.svelte";

beforeEach(() => localStorage.clear());

it("Enter in the name is enough to take a seat", async () => {
  const onjoin = vi.fn();
  render(Joining, { code: "ABC234", onjoin });
  const name = screen.getByRole<HTMLInputElement>("textbox");
  await fireEvent.input(name, { target: { value: "Mia" } });
  name.form?.requestSubmit();
  expect(onjoin).toHaveBeenCalledWith(expect.objectContaining({ name: "Mia" }), false);
});

// A field that takes several values: Enter adds one, Backspace in the empty field takes the last one away.

import { useId, useState } from "preact/hooks";
import { visible } from "../format.ts";

export interface ChipsProps {
  label: string;
  values: string[];
  change: (values: string[]) => void;
  placeholder?: string;
  joint?: string; // what stands between two: or, and
}

export function Chips({ label, values, change, placeholder, joint }: ChipsProps) {
  const [text, setText] = useState("");
  const id = useId();
  const add = () => {
    if (text === "") return;
    if (!values.includes(text)) change([...values, text]);
    setText("");
  };
  return (
    <div class="field chips">
      <label for={id}>{label}</label>
      <div class="box">
        {values.map((value, i) => (
          <span class="chip" key={value}>
            {i > 0 && joint && <span class="joint">{joint}</span>}
            <bdi class="id">{visible(value)}</bdi>
            <button
              type="button"
              aria-label={`Remove ${visible(value)}`}
              onClick={() => change(values.filter((other) => other !== value))}
            >
              ×
            </button>
          </span>
        ))}
        <input
          id={id}
          type="text"
          value={text}
          placeholder={values.length === 0 ? placeholder : ""}
          autocomplete="off"
          spellcheck={false}
          onInput={(event) => setText(event.currentTarget.value)}
          onBlur={add}
          onKeyDown={(event) => {
            if (event.key === "Enter" && text !== "") {
              event.preventDefault();
              add();
            } else if (event.key === "Backspace" && text === "" && values.length > 0) {
              change(values.slice(0, -1));
            }
          }}
        />
      </div>
    </div>
  );
}

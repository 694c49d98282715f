// A job while it runs: events come as they happen, results join the table, and the page ends as the job does.
const job = document.getElementById("job");

function cell(kind, text, name) {
  const made = document.createElement(kind);
  if (name) made.className = name;
  made.textContent = text;
  return made;
}

function addRecord(record) {
  const row = document.createElement("tr");
  const head = cell("th", "", "long");
  head.scope = "row";
  const link = cell("a", record.case);
  link.href = `/dashboard/records/${encodeURIComponent(record.record_id)}`;
  head.append(link);
  const status = document.createElement("td");
  status.append(cell("span", record.status, `status ${record.status}`), ` ${record.reason ?? ""}`);
  const time = record.latency_ms == null ? "-" : `${Number(record.latency_ms).toPrecision(4)} ms`;
  row.append(head, status, cell("td", time, "number"), cell("td", ""));
  document.getElementById("records").append(row);
  const done = document.getElementById("done");
  done.textContent = String(Number(done.textContent) + 1);
  document.getElementById("progress").value = Number(done.textContent);
}

function setState(text) {
  const state = document.getElementById("state");
  state.textContent = text;
  state.className = `status ${text}`;
}

if (job && job.dataset.over === "no") {
  const events = new EventSource(`/api/v1/jobs/${encodeURIComponent(job.dataset.job)}/events?after=${job.dataset.after}`);
  const on = (kind, react) => events.addEventListener(kind, (event) => react(JSON.parse(event.data).data));
  on("started", () => setState("running"));
  on("plan", () => { document.getElementById("note").textContent = "Preparing the models; results follow."; });
  const log = window.setInterval(async () => {
    const answer = await fetch(`/api/v1/jobs/${encodeURIComponent(job.dataset.job)}/log`);
    if (answer.ok) document.getElementById("log").textContent = await answer.text();
  }, 2000);
  on("note", (data) => { document.getElementById("note").textContent = `${data.case ?? ""} ${data.text ?? ""}`; });
  on("record", addRecord);
  on("stopping", () => { document.getElementById("note").textContent = "Stopping; what was measured is kept."; });
  on("end", (data) => { setState(data.state); events.close(); window.clearInterval(log); window.setTimeout(() => window.location.reload(), 600); });
}

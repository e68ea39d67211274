// Written by `ralph hooks install --host opencode`; `ralph hooks uninstall --host opencode` removes it. The next
// installation overwrites any changes.
//
// A thin layer: it tells `ralph hooks ...` what happens in a session and does what ralph replies. It decides nothing. If
// ralph is missing or fails, opencode continues without it.
import { spawn } from "node:child_process"

const RALPH = "ralph"

export const Ralph = async ({ client, directory }) => {
  const parents = new Map() // session: the session that started it, or ""
  const greeted = new Set() // sessions whose first prompt was seen
  const judged = new Map() // session: its last message at the last stop
  const sent = new Map() // session: the continuation on its way, which is not a prompt from the user

  const complain = (message) =>
    client.app.log({ body: { service: "ralph", level: "error", message } }).catch(() => {})

  const show = (message) =>
    client.tui.showToast({ body: { title: "ralph", message, variant: "info", duration: 10000 } }).catch(() => {})

  // The reply of a hook; {} if it has nothing to say.
  const ralph = (hook, seconds, payload) =>
    new Promise((resolve, reject) => {
      const stop = AbortSignal.timeout(seconds * 1000)
      const child = spawn(RALPH, ["hooks", hook, "--protocol", "opencode"], { cwd: directory, signal: stop })
      let out = ""
      let err = ""
      child.stdout.setEncoding("utf8").on("data", (text) => (out += text))
      child.stderr.setEncoding("utf8").on("data", (text) => (err += text))
      child.stdin.on("error", () => {})
      child.on("error", reject)
      child.on("close", () => {
        if (err) complain(err.trim())
        try {
          resolve(out.trim() ? JSON.parse(out) : {})
        } catch (error) {
          reject(error)
        }
      })
      child.stdin.end(JSON.stringify({ cwd: directory, tool_calls_counted: true, ...payload }))
    }).catch((error) => {
      complain(`ralph hooks ${hook}: ${error.message}`)
      return {}
    })

  const parentOf = async (id) => {
    if (!parents.has(id)) {
      const found = await client.session.get({ path: { id } }).catch(() => undefined)
      parents.set(id, found?.data?.parentID ?? "")
    }
    return parents.get(id)
  }

  // A sub-agent has its own session here; what it does counts for the session that the user sees.
  const identity = async (id) => {
    let root = id
    while (await parentOf(root)) root = parents.get(root)
    return root === id ? { session_id: id } : { session_id: root, agent_id: id }
  }

  const messagesOf = async (id) => (await client.session.messages({ path: { id } }).catch(() => undefined))?.data ?? []

  const words = (parts) =>
    parts
      .filter((part) => part.type === "text" && !part.synthetic && !part.ignored)
      .map((part) => part.text)
      .join("\n")

  const contextIn = (reply) => reply.hookSpecificOutput?.additionalContext

  const onIdle = async (id) => {
    // A ralph run starts `opencode run`, which ends at the first idle event, whatever is sent then. The run itself judges the
    // result.
    if (process.env.RALPH_RUN_ID) return
    const who = await identity(id)
    if (who.agent_id) return
    const messages = await messagesOf(id)
    const asked = messages.findLastIndex((one) => one.info.role === "user")
    const turn = messages.slice(asked + 1)
    const last = turn.at(-1)
    // Interrupted by the user in mid-turn, failed, or nothing new: the agent did not stop by itself.
    const finish = last?.info.finish ?? "unknown"
    if (asked < 0 || last?.info.error || finish === "unknown" || finish === "tool-calls") return
    if (judged.get(id) === last.info.id) return
    judged.set(id, last.info.id)
    const user = messages[asked].info
    const reply = await ralph("stop", 600, {
      ...who,
      hook_event_name: "Stop",
      prompt_id: user.id,
      last_assistant_message: words(last.parts),
      prompt_response: turn.map((one) => words(one.parts)).join("\n"),
    })
    if (reply.decision === "block") {
      sent.set(id, reply.reason)
      const parts = [{ type: "text", text: reply.reason }]
      await client.session.promptAsync({ path: { id }, body: { agent: user.agent, model: user.model, parts } })
      return
    }
    if (reply.systemMessage) await show(reply.systemMessage)
  }

  return {
    "chat.message": async ({ sessionID }, { message, parts }) => {
      const prompt = words(parts)
      if (sent.get(sessionID) === prompt) {
        sent.delete(sessionID)
        return
      }
      const who = await identity(sessionID)
      if (who.agent_id) return
      const told = []
      if (!greeted.has(sessionID)) {
        greeted.add(sessionID)
        const source = (await messagesOf(sessionID)).length ? "resume" : "startup"
        told.push(contextIn(await ralph("session-start", 10, { ...who, hook_event_name: "SessionStart", source })))
      }
      const line = { ...who, hook_event_name: "UserPromptSubmit", prompt_id: message.id, prompt }
      const reply = await ralph("user-prompt", 10, line)
      if (reply.decision === "block") {
        await show(reply.reason) // clients only learn that there was an error, not which one
        throw new Error(reply.reason)
      }
      told.push(contextIn(reply))
      const text = told.filter(Boolean).join("\n\n")
      if (!text || !parts.length) return
      parts.push({ id: `${parts.at(-1).id}r`, sessionID, messageID: message.id, type: "text", text, synthetic: true })
    },

    "tool.execute.before": async ({ tool, sessionID, callID }, { args }) => {
      const call = { hook_event_name: "PreToolUse", tool_name: tool, tool_use_id: callID, tool_input: args }
      const reply = (await ralph("pre-tool", 10, { ...(await identity(sessionID)), ...call })).hookSpecificOutput
      if ((reply?.permissionDecision ?? "allow") !== "allow") throw new Error(reply.permissionDecisionReason)
    },

    "tool.execute.after": async ({ tool, sessionID, callID, args }, result) => {
      const call = { hook_event_name: "PostToolUse", tool_name: tool, tool_use_id: callID, tool_input: args }
      const text = contextIn(await ralph("post-tool", 70, { ...(await identity(sessionID)), ...call }))
      if (text && typeof result?.output === "string") result.output += `\n\n${text}`
    },

    event: async ({ event }) => {
      if (event.type === "session.deleted") {
        // It can't be resumed, just as after /clear in other hosts.
        const end = { session_id: event.properties.info?.id, hook_event_name: "SessionEnd", reason: "clear" }
        if (end.session_id) await ralph("session-end", 10, end)
      }
      if (event.type !== "session.idle") return
      await onIdle(event.properties.sessionID).catch((error) => complain(`session.idle: ${error.message}`))
    },
  }
}

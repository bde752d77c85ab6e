// grammY as its documentation shows it: an echo that answers in private and where it is mentioned, and sends pictures
// back. Arguments: address of the server, token.
import { Bot, GrammyError, InputFile } from "grammy";

const [apiRoot, token] = process.argv.slice(2);
const bot = new Bot(token, { client: { apiRoot } });

async function patiently(send) {
  for (;;) {
    try {
      return await send();
    } catch (error) {
      const seconds = error instanceof GrammyError && error.parameters.retry_after;
      if (!seconds) throw error;
      await new Promise((wake) => setTimeout(wake, seconds * 1000));
    }
  }
}

bot.on("message:photo", async (context) => {
  const file = await context.getFile();
  const answer = await fetch(`${apiRoot}/file/bot${token}/${file.file_path}`);
  const picture = new InputFile(new Uint8Array(await answer.arrayBuffer()), "back.jpg");
  await patiently(() => context.replyWithPhoto(picture, { caption: "<b>back</b>", parse_mode: "HTML" }));
});

bot.on("message:text", async (context) => {
  const mentioned = context.entities("mention").some((one) => one.text === `@${context.me.username}`);
  if (context.chat.type !== "private" && !mentioned) return;
  await patiently(() =>
    context.reply(`echo ${context.msg.text}`, {
      reply_parameters: { message_id: context.msg.message_id },
      message_thread_id: context.msg.is_topic_message ? context.msg.message_thread_id : undefined,
    }),
  );
});

bot.catch(({ error }) => console.error(error));
await bot.start();

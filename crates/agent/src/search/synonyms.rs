//! Words that mean the same to someone who looks for a method, in English, Chinese and Japanese.
//! General vocabulary of what assistants do; nothing here knows any one method.

use std::{collections::HashMap, sync::LazyLock};

use super::words::stem;

/// One concept a line. A word may stand in several.
const CONCEPTS: &str = "\
weather forecast climate temperature rain sunny umbrella snow hot cold meteorology 天气 气温 预报 下雨 雨伞 温度 天気 気温 予報 雨 傘
time clock hour moment 时间 几点 时刻 現在時刻 時間 何時 時刻 minute second now zone timezone timestamp 现在 时区 今
date day today calendar 日期 今天 几号 星期 日历 日付 今日 何日 曜日 week month tomorrow yesterday weekend monday tuesday wednesday thursday friday saturday sunday 明天 昨天 下周 本周 周末 来週 明日 今週 週末 月
timer alarm remind reminder countdown schedule later wake 提醒 闹钟 定时 倒计时 計時 计时 叫我 リマインダー タイマー アラーム 知らせ 起こし minute snooze 分钟 小时后 分後 時間後
cancel abort revoke stop undo 取消 撤销 停止 中止 キャンセル 取り消し 止め
calendar event appointment meeting agenda schedule 日程 会议 约会 安排 预约 予定 会議 スケジュール 打ち合わせ meet invite attend attendee busy slot 见面 邀请 参加 开会 档期 招待
send post deliver say tell message notify announce 发送 发 发给 通知 告诉 推送 送 送信 伝え 投稿
message chat text talk 消息 信息 聊天 短信 メッセージ チャット
email mail inbox letter gmail newsletter 邮件 邮箱 电子邮件 来信 メール 受信箱
reply respond answer 回复 回答 答复 返信 返事 回答
file document attachment 文件 文档 附件 ファイル 書類 添付
folder directory 文件夹 目录 フォルダ ディレクトリ
read open view show display look see content 读 看 打开 查看 显示 浏览 内容 阅读 読 開 見せ 表示 photograph
write save store put keep record 写 保存 存 存储 储存 记录 記録 保存 書
delete remove erase clear drop discard trash 删除 删 移除 清除 清空 去掉 扔掉 削除 消し 消去
copy duplicate clone backup 复制 拷贝 备份 コピー 複製 バックアップ
move rename relocate transfer 移动 重命名 改名 转移 移動 名前変更
list enumerate overview all every show 列出 列表 清单 全部 所有 哪些 一覧 リスト 全て
create make new add generate build produce 创建 新建 建立 添加 新增 生成 制作 做 作成 作っ 作り 追加 生成
update edit change modify set adjust 更新 修改 编辑 改 更改 设置 调整 変更 更新 編集 設定
search find lookup query seek locate discover 搜索 查找 查询 查 找 搜 检索 寻找 検索 探し 調べ check explore investigate scan hunt 看看 查一下 查下
web internet online google website site browse 网上 网络 互联网 上网 网站 ネット ウェブ サイト http https www com
page url link website webpage article 网页 链接 网址 页面 文章 ページ リンク 記事 http https www com html
download fetch retrieve grab pull 下载 抓取 获取 拉取 ダウンロード 取得
upload push 上传 アップロード
image picture photo pic drawing illustration graphic 图片 图像 照片 图 画 相片 画像 写真 絵 イラスト photograph photography
draw paint sketch illustrate render generate 画 绘制 绘画 作画 描 描い 描く 生成
chart graph plot diagram visualize histogram 图表 曲线 折线图 柱状图 饼图 可视化 グラフ チャート 図表
video movie film clip youtube bilibili watch 视频 电影 影片 录像 片子 動画 映画 ビデオ
music song track melody tune playlist listen 音乐 歌 歌曲 歌单 听歌 音楽 曲 歌 sing singer artist band album play 唱 歌手 专辑 点歌 播放 再生
audio sound voice speech recording speak 音频 声音 语音 录音 朗读 念 音声 声 録音 読み上げ aloud pronounce hear loud 播报 大声 发音 聞く 発音
transcribe dictation subtitle caption 转写 听写 转文字 字幕 文字起こし 字幕 recording voice speech dictate minutes 语音 录音 会议记录 音声
translate translation language interpret 翻译 译 译成 翻訳 訳し 訳 english french german spanish chinese japanese korean russian italian foreign 英文 英语 中文 日语 日文 法语 德语 韩语 外语 英語 日本語 中国語
summarize summary digest condense shorten tldr brief gist 总结 摘要 概括 归纳 概述 要約 まとめ 要点 essence overview short recap 大意 简述 重点 概要
warning hazard alert 警报 预警 警告 警報 注意報 storm flood hurricane typhoon danger 台风 暴雨 洪水 危险 台風 大雨 危険
math calculate compute arithmetic sum formula equation evaluate 计算 算 数学 求和 公式 計算 数学 合計
convert conversion unit transform exchange 转换 换算 单位 转成 换成 変換 換算 単位
currency money exchange rate dollar euro yuan yen price 货币 汇率 美元 欧元 人民币 日元 钱 兑换 外汇 通貨 為替 ドル 円 レート
stock share market ticker equity finance invest 股票 股价 股市 行情 投资 理财 株 株価 市場
price cost cheap expensive 价格 多少钱 价钱 费用 便宜 値段 価格 料金 fare fee budget worth value
pay payment bill invoice charge purchase 支付 付款 账单 发票 缴费 支払 請求書 会計 spend spent expense budget account ledger bookkeeping 花 花了 花费 开销 支出 记账 预算 账 账本 消费 家計簿 出費 予算 cost
buy order purchase shop shopping store product goods 买 购买 下单 订单 购物 商品 買 購入 注文 商品
refund return 退款 退货 返金 返品
package parcel delivery shipment shipping courier track 快递 包裹 物流 运单 荷物 配送 宅配 追跡 mail post arrive deliver 到哪 送达 届
map place location address where near nearby geocode 地图 地点 位置 地址 附近 在哪 地図 場所 住所 近く どこ coordinate latitude longitude position gps street city 坐标 经纬度 街道 座標 緯度 経度
route direction navigate navigation drive way travel 路线 导航 怎么走 开车 路 经路 経路 道順 行き方 ルート
distance far long 距离 多远 距離
flight plane airline airport fly 航班 飞机 机票 机场 飛行機 フライト 航空券 空港 fare departure arrival 起飞 航线 出発
train railway rail 火车 高铁 列车 车票 电车 電車 列車 新幹線
hotel room accommodation stay lodging 酒店 旅馆 住宿 房间 宾馆 ホテル 宿 宿泊 night lodge sleep 晚 过夜 泊
restaurant food eat dinner lunch meal dish cook recipe hungry cuisine 餐厅 饭店 吃 美食 菜 菜谱 做饭 食谱 饿 レストラン 料理 食べ レシピ ご飯 ingredient kitchen bake breakfast pizza cafe bar 食材 烹饪 早餐 晚餐 午饭 咖啡 材料 朝食 夕食
book reserve reservation booking ticket 预订 预约 订 订票 预定 予約 チケット
user person people member account profile who 用户 人 成员 账号 个人 谁 资料 ユーザー メンバー アカウント 誰 everyone everybody somebody anyone friend crowd 大家 朋友 みんな 友達
avatar portrait icon face 头像 脸 アバター アイコン 顔
group channel room community team 群 群聊 频道 小组 团队 グループ チャンネル チーム
ban mute kick block silence forbid 禁言 踢 封禁 拉黑 屏蔽 闭嘴 ミュート 追放 禁止
permission right access role admin privilege 权限 管理员 角色 授权 権限 管理者
note memo memory remember remind memorize keep 笔记 备忘 备忘录 记住 记下 记忆 记 メモ 覚え ノート 記憶
recall remember memory forgot 回忆 回想 想起 记得 思い出 覚え told tell said mention earlier before
forget erase 忘记 忘掉 忘 忘れ
preference setting option config configuration default 偏好 设置 配置 选项 喜好 设定 設定 好み オプション
todo task chore job checklist 待办 任务 事项 清单 タスク やること 宿題 thing 事情 要做 事 用事
done complete finish close tick check resolve 完成 做完 关闭 结束 搞定 勾掉 完了 終わ 済 閉じ
project plan board milestone 项目 计划 看板 プロジェクト 計画
issue bug ticket defect problem error report 问题 缺陷 工单 报错 故障 バグ 不具合 問題 課題 complain feature file track tracker 反馈 提需求 报告 報告
code program source script programming repository repo git commit 代码 程序 源码 脚本 仓库 提交 コード プログラム リポジトリ function class variable implementation library develop developer 函数 类 实现 开发 関数 実装 開発
merge pull request review pr 合并 评审 审查 マージ レビュー branch approve accept approved diff 分支 批准 通过 ブランチ 承認
run execute launch start trigger invoke 运行 执行 启动 触发 跑 開始 実行 起動
restart reboot 重启 再起動
server machine host system computer service 服务器 主机 系统 电脑 机器 服务 サーバー システム 機械 cpu memory disk load crash outage 内存 磁盘 负载 宕机 CPU メモリ 負荷
status state health progress condition alive up down 状态 状况 情况 进度 健康 状態 状況 進捗 running broken work 正常 坏 动作
log history past previous earlier record trace 日志 历史 以前 之前 过去 记录 履歴 ログ 過去 以前 output stack crash happened 输出 发生 出力
database sql table query row 数据库 表 数据表 データベース テーブル select join column record schema 字段 列 查库
data dataset csv spreadsheet excel table sheet 数据 表格 电子表格 データ 表 シート エクセル
pdf page document 文档 文書
json yaml structured dictionary object 结构 構造
knowledge wiki encyclopedia fact information explain definition meaning 知识 百科 资料 信息 意思 定义 解释 知識 百科 情報 意味 辞書 learn teach what 学习 教 了解 学ぶ
news headline press current 新闻 头条 资讯 时事 ニュース 最新
random dice roll chance lottery pick coin luck 随机 骰子 掷 抽签 抽奖 运气 抛硬币 ランダム サイコロ くじ 抽選
game play quiz riddle puzzle 游戏 玩 猜谜 谜语 竞猜 ゲーム 遊び クイズ trivia challenge fun 问答 挑战 娱乐
joke funny laugh humor 笑话 搞笑 段子 幽默 冗談 ジョーク 面白い amuse cheer comedy 开心 逗 笑 笑わせ
poll vote survey ballot 投票 调查 问卷 表决 アンケート 投票 調査 decide choose opinion 票 决定 选 意见 決め
ask question confirm inquire 问 提问 询问 确认 質問 聞い 確認 choose choice option decision 选择 选项 選択
password secret credential key token login 密码 口令 密钥 登录 パスワード 鍵 ログイン 秘密
encrypt hash cipher decode encode checksum 加密 解密 哈希 编码 解码 暗号 ハッシュ エンコード
qr barcode scan code 二维码 条形码 扫码 扫描 バーコード スキャン コード
ocr recognize recognition extract text scan identify detect 识别 文字识别 提取 辨认 检测 認識 読み取 識別 抽出 検出 letter character handwriting printed 文字 手写 字 手書き
compress zip archive pack shrink 压缩 打包 归档 圧縮 アーカイブ
extract unzip unpack decompress 解压 提取 展開 解凍
resize crop scale rotate thumbnail 缩放 裁剪 调整大小 旋转 缩略图 切り抜き リサイズ 回転 size smaller bigger larger shrink enlarge wide width height pixel dimension 缩小 放大 大小 尺寸 小さく 大きく サイズ
screenshot capture screen 截图 截屏 屏幕 スクリーンショット 画面
background cutout transparent 背景 抠图 透明 背景
sticker emoji meme reaction 表情 表情包 贴纸 スタンプ 絵文字
light lamp bulb brightness bright dark 灯 灯光 亮度 亮 关灯 开灯 電気 照明 ライト 明るさ lighten darken dim brighten illuminate 调暗 调亮 暗 明るく 暗く
heat heating thermostat air conditioner warm cool temperature 空调 暖气 制冷 加热 温度 暖房 冷房 エアコン 温度 degree celsius warmth chilly 度 冷 热 暖 寒い 暑い 暖かく
door lock unlock gate 门 锁 开门 锁门 鍵 ドア 施錠 secure open shut house 关门 家门
device switch turn appliance sensor smart home on off 设备 开关 打开 关闭 家电 传感器 デバイス スイッチ つけ 消し 家電
camera surveillance webcam 摄像头 监控 相机 カメラ 監視
contact phone number address person 联系人 通讯录 电话 号码 連絡先 電話 番号
call phone ring dial 打电话 电话 拨打 通话 電話 通話
health fitness exercise workout sport step sleep weight 健康 运动 锻炼 健身 步数 睡眠 体重 运动量 健康 運動 睡眠 体重 歩数
medicine drug pill doctor symptom 药 药品 医生 症状 吃药 薬 医者 症状
diet calorie nutrition 卡路里 热量 营养 饮食 カロリー 栄養
score match team sport football soccer basketball game result 比分 比赛 足球 篮球 赛果 試合 スコア サッカー 結果
book novel library author reading 书 小说 图书 作者 图书馆 本 小説 図書館 著者
paper research academic arxiv citation study scholar 论文 学术 研究 文献 論文 研究 文献 学術
holiday vacation festival anniversary birthday 节日 假期 放假 生日 纪念日 节假日 休日 祝日 誕生日 休み
lunar zodiac horoscope fortune 农历 星座 运势 黄历 生肖 占い 星座 運勢
dictionary word spelling synonym definition vocabulary 词典 单词 拼写 词 字典 辞書 単語 綴り
grammar proofread correct spelling fix polish rewrite rephrase 语法 校对 改错 润色 改写 错别字 文法 校正 添削 書き直
compare difference diff versus 比较 对比 区别 差异 比較 違い 差分
sort order rank top best recommend suggest suggestion 排序 排名 推荐 建议 最好 排行 おすすめ 推薦 ランキング 提案
count number many amount total quantity statistic 数量 多少 统计 计数 总数 个数 数 統計 いくつ 合計
average mean median statistic analyze analysis 平均 统计 分析 中位数 平均 統計 分析
recent latest newest last fresh new 最近 最新 刚才 近期 最近 最新
popular trend trending hot viral 热门 热搜 流行 趋势 人気 トレンド 話題
subscribe follow feed rss unsubscribe 订阅 关注 取消订阅 購読 フォロー
share publish public release deploy 分享 发布 公开 部署 上线 共有 公開 デプロイ 配布
sentiment emotion mood feeling 情绪 情感 心情 感情 気分
agent assistant expert delegate specialist helper 代理 助手 专家 委托 委派 エージェント 助手 専門家 委任 consult consultant advice advise 咨询 顾问 相談
like thumbs favorite star praise 点赞 喜欢 收藏 赞 いいね お気に入り
point balance credit quota usage limit remaining left 积分 余额 额度 用量 剩余 配额 残高 残り ポイント 使用量
sign checkin attendance daily 签到 打卡 出勤 チェックイン
water drink hydration 喝水 水 水分
plant garden 植物 浇水 花 庭
pet cat dog animal 宠物 猫 狗 动物 ペット 犬 動物
key value variable environment 变量 环境 键 変数 環境
ip network dns ping connection port latency 网络 连接 端口 延迟 域名 ネットワーク 接続 通信
color colour palette hex 颜色 色 配色 カラー 色
font style format layout markdown 格式 样式 排版 字体 形式 書式 フォーマット
template form fill 模板 表单 填写 テンプレート フォーム 記入
sign signature contract agree 签名 合同 签署 署名 契約 legal law lawyer clause risk lease agreement 法律 律师 条款 风险 协议 弁護士 条項 リスク
repeat recurring every daily weekly cron regular periodic 每天 每周 定期 重复 周期 毎日 毎週 定期 繰り返し
first begin start 第一 开始 最初 始め
age old year 年龄 多大 岁 年齢 何歳
crypto bitcoin coin ethereum 比特币 加密货币 虚拟币 仮想通貨 ビットコイン
quote saying proverb wisdom poem poetry 名言 诗 诗词 古诗 句子 名言 詩
air quality pollution aqi 空气 空气质量 污染 雾霾 大気 空気 smog haze breathe dust 呼吸 粉尘 霾
earthquake disaster emergency 地震 灾害 紧急 災害 緊急
traffic jam congestion bus subway metro 交通 堵车 公交 地铁 交通 渋滞 バス 地下鉄
parking car vehicle 停车 车 汽车 駐車 車
charge battery power energy electricity 电池 充电 电量 电费 用电 電池 充電 電力
member join welcome leave quit 加入 欢迎 退出 加群 退群 参加 歓迎 退会
free available availability gap vacant slot idle 有空 空闲 空档 空位 空き 都合
print printer paper hardcopy 打印 印刷 打印机 プリント 印刷
notice announcement bulletin rule 公告 通告 公示 规则 お知らせ 告知 規則
category kind type sort tag label 类别 分类 种类 标签 種類 分類 タグ
month monthly quarter annual yearly 月 每月 月度 季度 年度 毎月 月間 年間
report statement review analysis 报告 报表 总结 レポート 報告
travel trip journey tour visit vacation 旅行 旅游 出行 行程 旅 旅行 観光
job work career resume hire salary 工作 招聘 简历 薪水 仕事 求人 給料
school study course class lesson homework exam student 学校 课程 上课 作业 考试 学生 学校 授業 宿題 試験
kill terminate shutdown end quit 杀死 终止 关机 退出 終了 停止
install upgrade package dependency version 安装 升级 依赖 版本 インストール 更新 バージョン
test verify validate check debug 测试 验证 校验 调试 テスト 検証
deploy release rollout ship publish 部署 发布 上线 リリース
pin stick top highlight 置顶 精华 固定 ピン留め
";

/// The numbers of the concepts that a word stands for; an English word by its stem.
pub(super) fn concepts(word: &str) -> &'static [usize] {
    static NUMBERS: LazyLock<HashMap<String, Vec<usize>>> = LazyLock::new(|| {
        let mut numbers: HashMap<String, Vec<usize>> = HashMap::new();
        for (number, line) in CONCEPTS.lines().enumerate() {
            for word in line.split(' ') {
                let known = numbers.entry(stem(word)).or_default();
                if !known.contains(&number) {
                    known.push(number);
                }
            }
        }
        numbers
    });
    NUMBERS.get(word).map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_is_a_concept_of_several_words() {
        for line in CONCEPTS.lines() {
            assert!(
                line.split(' ').count() > 1 && !line.contains("  "),
                "{line}"
            );
        }
        assert!(!concepts(&stem("pictures")).is_empty());
        assert!(concepts("xyzzy").is_empty());
    }
}

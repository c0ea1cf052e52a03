"""The words by which placeholder pages are recognised, in the languages of most web sites.

Patterns are matched against text in lower case, with single spaces and straight apostrophes.
Those called heading must match a whole heading, the others are searched.
"""

import re
from typing import Final


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns))


LOGIN_HEADING: Final = _any(
    r"(?:(?:please|member|user|customer|client|account|staff|admin|secure|partner) )?"
    r"(?:log|sign)[ -]?(?:in|on)(?: (?:to|with|at|here|required|form|page|now|or)\b.{0,60})?",
    r"(?:authentication|authorization) required|(?:log|sign)[ -]?in (?:&|and) .{0,20}",
    r"(?:bitte )?(?:anmelden|einloggen)|(?:kunden-?|mitglieder-?|benutzer-?)?(?:anmeldung|login)"
    r"(?: erforderlich)?|bitte (?:melden sie sich|melde dich) .{0,60}",
    r"(?:se )?connecter|connexion|connectez-vous|s'identifier|identification|identifiez-vous"
    r"|veuillez vous (?:connecter|identifier)|authentification(?: requise)?",
    r"(?:iniciar|inicia|inicio de|inicie) (?:la )?sesi[oó]n|acceder|acceso (?:clientes|usuarios)",
    r"accedi|accesso(?: (?:utenti|clienti))?|effettua (?:il login|l'accesso)|area riservata",
    r"entrar|iniciar sess[aã]o|fa[çz]er? login|acesse sua conta",
    r"(?:aan|in)loggen|aanmelden|log in(?: bij .{0,40})?",
    r"logga in|log ind|logg inn|kirjaudu(?: sisään)?|innskráning",
    r"zaloguj(?: się)?|logowanie|přihlášení|přihlásit se|prihlásenie|prihlásiť sa|bejelentkezés",
    r"prijava|autentificare|conectare|logi sisse|prisijungti|pieslēgties",
    r"войти|вход(?: .{0,40})?|авторизация|увійти|вхід|авторизація|σύνδεση|είσοδος",
    r"giriş(?: yap)?|oturum aç(?:ın)?|ログイン|サインイン|登录|登錄|登入|会员登录|로그인|تسجيل الدخول",
    r"התחברות|כניסה|เข้าสู่ระบบ|đăng nhập|masuk|log masuk|ورود",
)
LOGIN_DEMAND: Final = _any(
    r"(?:you (?:must|need to|have to)|please) (?:first )?(?:be )?(?:log(?:ged)?|sign(?:ed)?)"
    r"[ -]?(?:in|on)\b",
    r"(?:log|sign) ?in (?:(?:in order )?to|for) (?:continue|proceed|view|access|see|read|your)",
    r"bitte (?:melden sie sich|melde dich|loggen sie sich|logge dich) .{0,80}(?:an|ein)\b",
    r"(?:müssen|musst|muss) (?:sich|dich|eingeloggt|angemeldet).{0,60}|(?:sie sind|du bist) nicht"
    r" (?:angemeldet|eingeloggt)",
    r"(?:veuillez|vous devez|merci de) (?:vous (?:connecter|identifier)|être connecté)",
    r"(?:debes?|por favor,?|necesitas?) (?:iniciar|inicia|inicie|identificarte)",
    r"(?:devi|è necessario) (?:effettuare|accedere|eseguire)|effettua (?:il login|l'accesso) per",
    r"(?:você precisa|é necessário|faça) (?:estar logado|fazer login|login|entrar)",
    r"(?:je moet|u moet|gelieve) .{0,20}(?:ingelogd|inloggen|in te loggen)|log in om",
    r"(?:musisz|aby|zaloguj się, aby).{0,30}zalog|logga in för|du (?:skal|må) (?:være )?logge",
    r"необходимо (?:войти|авторизоваться)|ログインしてください|请(?:先)?登录|請先登入|로그인(?:이 필요|해)",
)
PASSWORD_LABEL: Final = _any(
    r"\b(?:password|passwort|kennwort|mot de passe|contraseña|senha|palavra-passe|wachtwoord"
    r"|lösenord|adgangskode|passord|salasana|hasło|heslo|jelszó|parol[aă]|пароль|şifre)\b",
    r"パスワード|密码|密碼|비밀번호|كلمة المرور|סיסמה|mật khẩu|รหัสผ่าน",
)

NOT_FOUND_HEADING: Final = _any(
    r"(?:(?:oops|sorry|whoops|uh oh|error|fehler|erreur|http)?[ !,.:\-–—]*)?(?:error )?404[ !,.:\-–—]*"
    r"(?:error|fehler|page|file)?[ !,.:\-–—]*(?:not found|page not found|file not found"
    r"|nicht gefunden|seite nicht gefunden|introuvable|page introuvable|no encontrad[ao])[.! ]*",
    r"(?:oops|sorry|whoops|uh oh)?[ !,.:\-–—]*(?:the |this |that |your )?(?:requested )?"
    r"(?:page|file|document|content|url|address|site|resource)(?: you .{0,60})?"
    r" (?:was |is |could |can |has )?(?:not (?:be )?(?:found|available)|cannot be found|can't be found"
    r"|couldn't be found|wasn't found|unavailable|missing|no longer (?:exists?|available)"
    r"|does(?: not|n't) exist)(?: \(?404\)?)?[.! ]*",
    r"(?:sorry|oops)?[ !,.:\-–—]*we (?:can't|cannot|could not|couldn't|were unable to|did not) find"
    r" (?:the|that|this|your|what) ?.{0,60}",
    r"(?:ups|hoppla|fehler|leider)?[ !,.:\-–—]*(?:die |diese )?(?:angeforderte |gesuchte )?"
    r"(?:web)?seite (?:wurde |konnte |ist |existiert )?(?:leider )?nicht"
    r"(?: (?:gefunden|mehr)?(?: werden)?(?: verfügbar| vorhanden)?)?[.! ]*",
    r"(?:oups ?!? ?)?(?:la |cette )?page (?:demandée |recherchée )?(?:est )?(?:introuvable"
    r"|non trouvée|inexistante|n'existe (?:pas|plus)|n'a pas été trouvée)[.! ]*",
    r"(?:la )?página (?:solicitada )?no (?:se )?(?:encontrada|existe|encuentra|ha podido).{0,30}"
    r"|no (?:se )?(?:encontramos|encuentra|encontró) (?:la|esta) página.{0,20}",
    r"(?:la )?pagina (?:richiesta )?(?:non (?:è stata )?(?:trovata|esiste|disponibile)).{0,20}",
    r"(?:a )?página (?:solicitada )?não (?:foi )?(?:encontrada|existe|localizada).{0,20}",
    r"(?:de |deze )?pagina (?:is |kan |kon )?niet (?:gevonden|bestaat|beschikbaar).{0,20}"
    r"|(?:deze )?pagina bestaat niet.{0,10}",
    r"sidan (?:kunde inte hittas|kan inte hittas|hittades inte|finns inte|saknas).{0,10}",
    r"siden (?:blev ikke fundet|ble ikke funnet|findes ikke|finnes ikke|kunne ikke .{0,20})",
    r"(?:hakemaasi )?sivua ei (?:löyt(?:y)?nyt|löydy|ole).{0,20}",
    r"(?:nie znaleziono (?:takiej )?strony|strona nie (?:została znaleziona|istnieje)"
    r"|nie można znaleźć strony).{0,10}",
    r"(?:stránka (?:nebyla nalezena|nenalezena|neexistuje|nebola nájdená|sa nenašla)).{0,10}",
    r"(?:a keresett |az )?oldal nem (?:található|létezik).{0,10}|pagina nu (?:a fost găsită|există)",
    r"stranica nije pronađena|stran (?:ne obstaja|ni bila najdena)|страницата не е намерена",
    r"(?:запрашиваемая )?страница не (?:найдена|существует).{0,10}|сторінк[уа] не знайдено",
    r"η σελίδα δεν (?:βρέθηκε|υπάρχει)|(?:aradığınız )?sayfa bulunamadı.{0,10}",
    r"(?:お探しの|指定された)?ページ(?:は|が)?(?:見つかりません(?:でした)?|存在しません).{0,5}",
    r"(?:您(?:访问|要找)的)?(?:页面|網頁|頁面|网页)(?:不存在|未找到|找不到|走丢了).{0,10}"
    r"|(?:找不到|未找到)(?:该|该)?(?:页面|頁面|網頁|网页).{0,5}|抱歉.{0,10}(?:不存在|找不到).{0,10}",
    r"(?:요청하신 )?페이지를 찾을 수 없습니다.{0,5}|(?:الصفحة (?:غير موجودة|المطلوبة غير موجودة)"
    r"|لم يتم العثور على الصفحة)|(?:ה)?(?:דף|עמוד) לא נמצא|ไม่พบหน้า.{0,20}",
    r"(?:không tìm thấy trang|trang không tồn tại).{0,10}|halaman tidak ditemukan",
)
MAYBE_NOT_FOUND_HEADING: Final = _any(
    r"(?:error |fehler |erreur |http )?40[34]|not found|nicht gefunden|introuvable|no encontrado",
    r"non trouvé|não encontrado|niet gevonden|nie znaleziono|nenalezeno|не найдено|error|fehler",
    r"(?:oops|ups|oups|hoppla|whoops|uh oh|sorry|ooops|vaya)\b.{0,40}|nothing (?:here|found).{0,20}",
    r"something went wrong.{0,20}|page (?:error|missing)|404 .{0,40}",
)
"""Headings that pages with content may have too."""
APOLOGY: Final = _any(
    r"(?:page|address|url|link|document|content|file|resource|item)\b.{0,20}(?:you(?:'re| are| were)?"
    r" (?:requested|looking for|tried|trying|followed|seek)|requested).{0,80}"
    r"(?:not (?:be )?(?:found|available|exist)|n't|no longer|moved|removed|deleted|unavailable)",
    r"we (?:can't|cannot|could not|couldn't|were unable to|weren't able to|did not) find (?:the|that|"
    r"this|any|a|what)",
    r"requested (?:page|url|address|resource|document|content) .{0,40}(?:not|n't|no longer)",
    r"(?:this|that|the) (?:page|link|url|address) (?:does(?: not|n't)|no longer) exists?",
    r"(?:seite|adresse|inhalt|dokument|datei|url).{0,60}(?:existiert (?:leider )?nicht|nicht (?:mehr )?"
    r"(?:gefunden|vorhanden|verfügbar|erreichbar|existiert)|verschoben|entfernt|gelöscht)",
    r"page (?:que vous (?:recherchez|cherchez|avez demandée|demandez)|demandée|recherchée).{0,80}"
    r"(?:n'existe|introuvable|pas|plus|supprimée|déplacée)",
    r"página (?:que (?:busca|buscas|está buscando|has solicitado|procura|você)|solicitada).{0,60}"
    r"(?:no|não) (?:se |foi |está )?(?:existe|encuentra|encontrada|ha sido|pudo|disponible)",
    r"pagina (?:che (?:cerchi|stai cercando|hai richiesto)|richiesta).{0,60}(?:non|rimossa|spostata)",
    r"pagina (?:die (?:je|u) (?:zoekt|zocht|opvraagt)|waar .{0,20}zoek).{0,60}(?:niet|verplaatst)",
    r"sidan du (?:söker|letar|försök).{0,60}(?:inte|flytt)|siden du (?:leter|leder|søger).{0,60}ikke",
    r"strona, której (?:szukasz|szukałeś).{0,60}|stránk[au],? kter[áo]u? (?:hledáte|jste).{0,60}",
    r"страниц[аы],? (?:которую вы|запрошенн|запрашиваем).{0,60}|запрашиваемая страница.{0,40}не",
    r"(?:お探し|指定|アクセス).{0,12}ページ.{0,40}(?:ません|された可能性)|(?:访问|请求|要找).{0,6}页面.{0,12}(?:不存在|删除)",
)
DEFINITION: Final = _any(
    r"status ?-?code|response code|error code|error message|http (?:response|error|status|request)",
    r"fehlercode|fehlermeldung|statuscode|code d'(?:état|erreur)|código de (?:estado|error)|codice di",
    r"client error|web ?server|redirect|crawler|search engine|webmaster|\bseo\b|\bmeans\b|\brefers to\b",
    r"bedeutet|signifie|significa|refers|indicates|is (?:a|an|the) (?:page|error|film|song|album|novel)",
)
"""Of pages about errors."""

JAVASCRIPT_DEMAND: Final = _any(
    r"(?:enabl|turn|activat|switch|allow|support|requir|need|without|unterstütz|aktivier|activ|active"
    r"|habilit|ativ|abilita|attiva|inschakel|aktivér|włącz|zapn|povol|включит|вимкн|увімкн)\w*.{0,60}"
    r"java ?script",
    r"java ?script.{0,80}(?:enabled?|required?|disabled|turned off|not available|aktivier|benötigt"
    r"|erforderlich|deaktiviert|activ|requis|désactiv|habilit|necesario|activado|ativ|abilit|attiv"
    r"|ingeschakeld|nodig|wymag|włączon|zapnut|povolen|включ|отключ|gerekl|etkin)",
    r"javascript.{0,20}(?:有効|無効|必要|启用|啟用|禁用|开启|활성|필요)|(?:启用|啟用|开启).{0,6}javascript",
    r"checking (?:your|if the site) .{0,40}(?:browser|secure)|verify(?:ing)? (?:that )?you are (?:a )?human",
)
LOADING: Final = re.compile(
    r"(?:(?:loading|please wait|just a moment|one moment|initiali[sz]ing|wird geladen|lädt|laden"
    r"|bitte warten|chargement|veuillez patienter|cargando|caricamento|carregando|загрузка|読み込み中"
    r"|加载中|載入中|로딩|ładowanie|načítání|yükleniyor)[ .…!]*)*"
)

CONSENT_HEADING: Final = _any(
    r"before you (?:continue|proceed|go on).{0,40}|bevor (?:sie|du) (?:fortfahren|weiter).{0,40}",
    r"(?:we|.{0,30} and its partners) (?:value|respect|care about|use|process).{0,20}"
    r" (?:privacy|cookies?|data).{0,30}",
    r"(?:your|manage your) (?:privacy|cookies?|data).{0,40}|your (?:choices|consent).{0,40}",
    r"(?:this|our) (?:web)?site uses cookies.{0,20}",
    r"(?:manage )?(?:cookie|privacy)[ -]?(?:consent|settings|preferences|choices)|manage consent",
    r"(?:ihre|deine) (?:privatsphäre|daten|zustimmung|einwilligung|cookie).{0,40}",
    r"cookie-?(?:hinweis|einstellungen|zustimmung)|wir (?:verwenden|nutzen|respektieren|schätzen).{0,50}",
    r"(?:diese|unsere) (?:web)?(?:site|seite) (?:verwendet|nutzt) cookies.{0,20}",
    r"(?:le )?respect de (?:votre|la) vie privée.{0,30}|votre (?:vie privée|consentement).{0,30}",
    r"(?:nous|ce site) (?:respect|utilis).{0,50}|(?:tu|su|valoramos tu|sua|la tua) privaci?d?a?.{0,40}",
    r"avant de continuer.{0,40}|antes de continuar.{0,40}|prima di continuare.{0,40}",
    r"(?:je|uw) (?:privacy|cookies).{0,40}|voordat (?:je|u) verdergaat.{0,30}|(?:cookie|クッキー).{0,10}同意.{0,10}",
)
CONSENT: Final = _any(
    r"cookie|consent|privacy|partners?\b|personal data|personali[sz]ed|advertis|tracking|data protection",
    r"datenschutz|einwillig|zustimm|personenbezogen|privatsphäre|werbung|partner",
    r"vie privée|consentement|données personnelles|publicit|privacidad|consentimiento|datos personales",
    r"toestemming|persoonsgegevens|dati personali|consenso|ciasteczk|zgod[ay]|souhlas|同意|クッキー",
)
ACCEPT: Final = _any(
    r"(?:i )?(?:accept|agree|allow|ok|okay|got it|consent)(?: (?:all|and|&|to|cookies|continue|close).{0,30})?",
    r"(?:alle|allen)?[ ]?(?:cookies )?(?:akzeptieren|zulassen|zustimmen|annehmen|einverstanden)"
    r"(?: (?:und|&) .{0,30})?|ich (?:stimme zu|bin einverstanden)|zustimmen und .{0,20}",
    r"(?:tout |j')?accepte[rz]?(?: .{0,30})?|aceptar(?: .{0,20})?|accett[ao](?: .{0,20})?|aceitar(?: .{0,20})?",
    r"(?:alles |alle cookies )?(?:accepteren|toestaan)|akkoord|akceptuj[eę]?(?: .{0,20})?|souhlasím"
    r"|přijmout(?: .{0,20})?|godkänn(?: .{0,20})?|accepter(?: .{0,20})?|принять(?: .{0,20})?|同意する|全部接受|接受",
)

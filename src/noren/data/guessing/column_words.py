"""What a column's name says: the words that shops, surveys and registers use for people, orders, goods and money.

Names come in English, German, French, Spanish, Italian, Portuguese, Dutch, Japanese, Chinese and Korean, in camelCase,
in snake_case and cut short (``cust_id``, ``Kundennr``, ``顧客コード``). A name is first spelled in one way, its words
between underscores (:func:`spelled`); then a word counts only where it stands by itself or with a word for *number*
behind it, so that ``cardio`` is no card and ``discount`` no count. Chinese, Japanese and Korean put no space between
words: theirs count wherever they stand.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from enum import StrEnum

__all__ = ["Hint", "is_bare", "is_bare_id", "last_said", "says", "spelled"]


class Hint(StrEnum):
    """What a word in a name is about."""

    BUYER = "buyer"
    HOUSEHOLD = "household"
    CARD = "card"
    CONTACT = "contact"
    PERSON = "person"
    NUMBER = "number"  # that it is a number or a code of something
    NAME = "name"
    ATTRIBUTE = "attribute"  # what people are like: age, sex, town
    QUALITY = "quality"  # what orders and customers may have without being named by it: status, rank, type
    PLACE = "place"  # shops, towns, departments: numbered too, and no people
    ORDER = "order"
    EVENT = "event"  # words for a purchase that are an order only with a number behind them
    DATE = "date"
    BIRTH = "birth"
    OTHER_DATE = "other date"
    CALENDAR = "calendar"  # parts of dates, which are numbers and no money
    TIME = "time"
    GOODS = "goods"
    WORK = "work"  # films, books, games: goods where there are no others
    KIND_OF_GOODS = "kind of goods"
    DESCRIPTION = "description"
    UNIT_PRICE = "unit price"
    TOTAL = "total"
    NO_PRICE = "no price"
    QUANTITY = "quantity"
    SENSITIVE = "sensitive"
    ADDRESS = "address"


_NUMBER = (
    "id|ids|no|nr|num|number|nummer|numero|nro|numer|n|code|codes|cd|cod|codigo|codice|key|uid|uuid|guid|hash|ref|pk|sk"
    "|kod|kennung|schluessel|schlussel|sn|identifier|identifiant|identificador|identificativo|kennziffer"
)
_SECOND_HALVES = (
    "date|datum|time|zeit|price|preis|name|amount|betrag|menge|quantity|qty|value|wert|total|type|typ|status|category"
    "|group|gruppe|description|bezeichnung|desc|size|karte|address|adresse|count|anzahl|art"
)
_LATIN: dict[Hint, str] = {
    Hint.BUYER: (
        "customer|customers?id|cust|custmr|client|cliente|kunde|kunden|kund|kd|klant|klient|member|mitglied|"
        "mitglieds|membre|miembro|socio|membro|user|usr|utilisateur|usuario|utente|nutzer|benutzer|buyer|shopper|"
        "purchaser|consumer|acheteur|comprador|acquirente|kaeufer|kaufer|besteller|visitor|besucher|visiteur|"
        "subscriber|abonne|abonnent|reviewer|guest|patron|payer|msno|pseudonym|pseudonyme|pseudonimo|player|gamer|"
        "donor|rider|holder|sender|caller|tenant|renter|traveler|traveller|recipient|spender|accountholder"
    ),
    Hint.HOUSEHOLD: (
        "household|hh|hshd|haushalt|haushalts|foyer|menage|hogar|famiglia|familia|family|panelist|panelista|"
        "meter_(?:id|no|nr|number|code)|smart_meter|zaehlernummer|zahlernummer"
    ),
    Hint.CARD: (
        "card|karte|karten|kundenkarte|kundenkarten|carte|tarjeta|tessera|cartao|loyalty|fidelity|fidelite|account|"
        "acct|konto|compte|cuenta|conto|conta|device|cookie|cardholder|policy|"
        "contract|vertrag|vertrags"
    ),
    Hint.CONTACT: "email|e_mail|mail|phone|tel|telephone|telefon|telefono|telefone|mobile|handy|fax",
    Hint.PERSON: (
        "person|personen|patient|patienten|student|employee|emp|pupil|respondent|subject|participant|citizen|"
        "resident|worker|staff|candidate|applicant|passenger|driver|voter|schueler|schuler|mitarbeiter|personal|"
        "personne|persona|pessoa|paciente|paziente|alumno|eleve|empleado|borrower|debtor|insured|policyholder|"
        "people|individual|ssn|passport|nino|mynumber|national"
    ),
    Hint.NUMBER: _NUMBER,
    Hint.NAME: (
        "name|fullname|firstname|lastname|surname|forename|vorname|nachname|nom|prenom|nombre|apellido|apellidos|"
        "cognome|nome|sobrenome|namen|naam|username|nickname"
    ),
    Hint.ATTRIBUTE: (
        "age|alter|edad|eta|idade|sex|sexo|sexe|sesso|gender|genre|genero|genere|geschlecht|education|schooling|"
        "degree|occupation|job|beruf|profession|profesion|marital|familienstand|married|nationality|height|weight|"
        "bmi|smoker|children|hobby|race|ethnicity|citizenship|employment|employees|workclass|relationship|household_size"
    ),
    Hint.QUALITY: (
        "type|typ|tipo|status|stato|estado|state|segment|group|grp|class|level|tier|rank|grade|category|cat|"
        "categorie|categoria|since|tenure|rating|score|review|reviews|count|cnt|total|amount|value|flag|is|has|"
        "language|lang|currency|source|channel|payment|session|agent|ip|lifestage|lifestyle|sensitivity|size|label|"
        "points|comment|comments|note|notes|remark|expire|expiry|balance|average|avg|mean|median|share|rate|ratio|"
        "max|min|new|active|satisfaction|feedback|sum|customers|clients|users|members|visitors|employees|workers|headcount|line|seq|sequence|"
        "row|index|mode|method|priority|text|title|dow|hour|weekday|reason"
    ),
    Hint.PLACE: (
        "shop|store|stores|filiale|branch|market|markt|magasin|boutique|tienda|negozio|loja|outlet|warehouse|"
        "terminal|pos|till|kasse|caisse|caja|cassa|caixa|register|seller|vendor|supplier|lieferant|fournisseur|"
        "proveedor|fornitore|fornecedor|cashier|clerk|salesperson|city|town|stadt|ort|ville|ciudad|citta|cidade|"
        "country|land|pays|pais|paese|region|province|provincia|county|district|municipality|zip|zipcode|postal|"
        "postcode|plz|cap|cep|department|dept|abteilung|location|lat|lon|lng|latitude|longitude|area|ward|"
        "prefecture|site|chain|company|firma|school|hospital|clinic|doctor|arzt|physician|employer|campaign|coupon|"
        "promotion|promo"
    ),
    Hint.ORDER: (
        "invoice|invoices|inv|order|orders|ord|receipt|basket|transaction|transactions|txn|trx|ticket|bon|beleg|"
        "bestellung|bestell|bestellungs|bestellnummer|auftrag|auftrags|rechnung|rechnungs|warenkorb|kassenbon|"
        "kassenzettel|commande|facture|panier|pedido|factura|fattura|ordine|scontrino|cesta|recibo|fatura|"
        "encomenda|cart|bill|voucher|bestelling|bonnummer"
    ),
    Hint.EVENT: (
        "purchase|purchases|sale|sales|trans|tran|visit|trip|buy|bought|checkout|po|einkauf|einkaufs|kauf|verkauf|"
        "verkaufs|achat|achats|vente|compra|compras|venta|venda|acquisto|vendita|besuch|event|shop|shopping|sold"
    ),
    Hint.DATE: (
        "date|dates|datum|dat|day|days|jour|fecha|data|dia|giorno|dt|tag|timestamp|ts|datetime|time|moment|when|at|"
        "on|zeitpunkt|zeit|zeitstempel|uhrzeit|horodatage"
    ),
    Hint.BIRTH: (
        "birth|birthday|birthdate|dob|born|geburt|geburts|geburtstag|geburtsdatum|geburtsjahr|naissance|nacimiento|"
        "nascita|nascimento|yob"
    ),
    Hint.OTHER_DATE: (
        "expire|expiry|expiration|expires|valid|signup|sign|registered|registration|register|since|join|joined|"
        "death|hire|hired|membership|updated|update|modified|first|last|start|end|due|limit|eintritt|anmeldung|"
        "ablauf|inscription|alta|iscrizione|estimated|delivered|delivery|ship|shipped|approved|return|returned|"
        "cancel|cancelled|refund|lieferung|liefer|lieferdatum|livraison|entrega|consegna"
    ),
    Hint.CALENDAR: (
        "year|yr|month|week|weeks|quarter|jahr|monat|woche|annee|mois|semaine|ano|mes|anno|mese|weekday|dow|hour|"
        "minute|season"
    ),
    Hint.TIME: "time|uhrzeit|zeit|hour|heure|hora|ora|clock|tm",
    Hint.GOODS: (
        "sku|asin|ean|ean13|upc|gtin|jan|isbn|plu|stock|stock_code|article|artikel|artikels|articulo|articolo|"
        "artigo|product|products|produkt|produkte|produit|producto|prodotto|produto|prod|prd|item|items|goods|"
        "merchandise|ware|waren|material|itm|lineitem|drug|medicine"
    ),
    Hint.WORK: (
        "movie|film|book|song|track|game|dish|menu|title|anime|recipe|course|app|service|artist|buch|livre|libro"
    ),
    Hint.KIND_OF_GOODS: (
        "category|categories|subcategory|categorie|categoria|kategorie|warengruppe|brand|marke|marca|marque|"
        "commodity|subclass|product_line|produktgruppe"
    ),
    Hint.DESCRIPTION: (
        "desc|descr|description|beschreibung|bezeichnung|artikelbezeichnung|artikelname|produktname|libelle|"
        "descripcion|descrizione|descricao|designation|designacion|omschrijving|productname|itemname|"
        "itemdescription"
    ),
    Hint.UNIT_PRICE: (
        "price|prices|preis|einzelpreis|stueckpreis|stuckpreis|verkaufspreis|prix|precio|prezzo|preco|prijs|"
        "unitprice|unit_price|priceeach|msrp|rrp|pu"
    ),
    Hint.TOTAL: (
        "amount|amt|amounts|sales|sale|value|total|totals|spend|spent|spending|expenditure|revenue|dollars|dollar|"
        "usd|eur|euro|euros|yen|jpy|gbp|gross|net|turnover|umsatz|betrag|summe|gesamt|gesamtpreis|gesamtbetrag|"
        "montant|importe|importo|valor|valore|paid|charge|charged|purchase|purchases|cost|costs|kosten|monto|"
        "totale|somme|money|purchaseamount|salesamount|totalprice|netsales|bedrag|linetotal|wert|fare"
    ),
    Hint.NO_PRICE: (
        "discount|disc|rabatt|remise|descuento|sconto|desconto|tax|vat|mwst|tva|iva|shipping|freight|versand|"
        "versandkosten|porto|fee|profit|margin|balance|rate|percent|pct|sensitivity|points|income|tip|refund|cogs|"
        "ratio|average|avg|mean|limit|credit|loan|budget|capital|stock_value|score|installments|cumulative|"
        "lifetime|previous|frequency|prior|past"
    ),
    Hint.QUANTITY: (
        "quantity|quantities|quantite|quantita|quantidade|cantidad|qty|qte|qta|qtd|qnt|qtty|quant|menge|anzahl|"
        "stueck|stuck|stueckzahl|stuckzahl|stk|pieces|piece|pcs|units|count|cnt|nb|nombre|cds|volume|aantal|"
        "unidades|unites|pezzi|purchasequantity|quantityordered|orderquantity|itemcount|num_items|n_items|portions|"
        "servings|portionen"
    ),
    Hint.SENSITIVE: (
        "salary|salaries|wage|wages|income|earnings|gehalt|einkommen|lohn|revenu|salaire|ingreso|ingresos|sueldo|"
        "reddito|stipendio|renda|disease|diseases|diagnosis|diagnoses|diagnostic|diagnose|diagnostico|illness|icd|"
        "icd10|krankheit|maladie|enfermedad|malattia|doenca|religion|religious|religione|religiao|konfession|"
        "political|politics|party|partei|vote|hiv|aids|sexual|orientation|union|gewerkschaft|criminal|conviction|"
        "offence|crime|disability|behinderung|medication|symptom|symptoms|cancer|genetic|salario|debt|pregnant|"
        "pregnancy|mental"
    ),
    Hint.ADDRESS: "address|addresses|adresse|addr|direccion|indirizzo|endereco|street|strasse|rue|calle|via|rua|url",
}
_CJK: dict[Hint, str] = {
    Hint.BUYER: (
        "顧客|会員|購入者|購買者|お客様|得意先|利用者|ユーザ|カスタマー|メンバー|仮名|注文者|客户|客戶|会员|會員|"
        "用户|用戶|顾客|买家|買家|고객|회원|구매자|사용자|이용자|손님"
    ),
    Hint.HOUSEHOLD: "世帯|家庭|가구|세대",
    Hint.CARD: (
        "カード番号|カードID|カードNo|ポイントカード|口座|契約|証券番号|アカウント|卡号|卡號|账号|帳號|账户|카드번호|계정|계좌"
    ),
    Hint.CONTACT: "メール|電話|携帯|邮箱|郵箱|电话|手机|이메일|전화|휴대",
    Hint.PERSON: (
        "患者|社員|職員|学生|生徒|従業員|個人|住民|被験者|回答者|受診者|マイナンバー|员工|病人|居民|身份证|환자|"
        "직원|학생|주민"
    ),
    Hint.NUMBER: "番号|コード|编号|編號|编码|代码|号码|单号|單號|ナンバー|번호|코드|아이디",
    Hint.NAME: "氏名|名前|姓名|フリガナ|ふりがな|お名前|이름|성명",
    Hint.ATTRIBUTE: "年齢|年代|性別|職業|学歴|婚姻|国籍|身長|体重|年龄|性别|职业|学历|나이|연령|성별|직업|학력|결혼",
    Hint.QUALITY: (
        "ランク|区分|種別|種類|属性|状態|ステータス|等級|級|単位|級別|级别|类型|状态|等级|등급|구분|상태|유형|수단|"
        "支払方法|決済"
    ),
    Hint.PLACE: (
        "店舗|店番|店名|支店|店|地域|都道府県|市区町村|郵便|部門|部署|レジ|门店|店铺|地区|城市|省|部门|매장|점포|"
        "지역|도시|부서|우편"
    ),
    Hint.ORDER: (
        "伝票|注文|レシート|受注|取引|会計番号|オーダー|買上番号|订单|訂單|交易|小票|发票|流水|주문|영수증|거래"
    ),
    Hint.EVENT: "購買|購入|売上|販売|買上|来店|购买|下单|销售|消费|구매|판매|매출|방문|결제",
    Hint.DATE: "日付|日時|年月日|日$|日_|日期|时间|時間|날짜|일자|일시|일$|일_",
    Hint.BIRTH: "生年|誕生|出生|생년|생일",
    Hint.OTHER_DATE: "入会|登録|有効|期限|更新|退会|初回|最終|配送|発送|出荷|納品|発货|注册|到期|首次|가입|만료|등록",
    Hint.CALENDAR: "年$|年_|月$|月_|週|曜日|星期|년$|년_|월$|월_",
    Hint.TIME: "時刻|時間|时间|시각|시간",
    Hint.GOODS: "商品|品番|品目|製品|薬品|薬剤|アイテム|产品|產品|货号|貨號|物品|상품|제품|품목",
    Hint.WORK: "書籍|メニュー|映画|작품|电影|图书",
    Hint.KIND_OF_GOODS: "分類|カテゴリ|ブランド|メーカー|大分類|小分類|品类|类别|品牌|분류|카테고리|브랜드",
    Hint.DESCRIPTION: "商品名|品名|商品説明|商品名称|产品名|상품명|품명|제품명|상품이름",
    Hint.UNIT_PRICE: "単価|価格|値段|売価|单价|價格|价格|价钱|단가|가격",
    Hint.TOTAL: "金額|売上高|売上額|税込|税抜|代金|支払額|合計|购买额|总价|总额|金额|实付|금액|매출|총액",
    Hint.NO_PRICE: "値引|割引|税額|消費税|送料|ポイント|粗利|原価|折扣|运费|税额|利润|할인|세금|배송비|포인트",
    Hint.QUANTITY: "数量|個数|点数|購入数|件数|冊数|本数|数目|수량|개수",
    Hint.SENSITIVE: (
        "年収|所得|給与|収入|給料|病|疾患|診断|宗教|信仰|政治|政党|思想|犯罪|障害|既往|收入|工资|薪|疾病|诊断|소득|"
        "연봉|질병|진단|종교|월급"
    ),
    Hint.ADDRESS: "住所|地址|주소",
}


@functools.cache
def _pattern(word: Hint) -> re.Pattern[str]:
    latin = _LATIN.get(word)
    parts = []
    if latin is not None:
        # a word by itself, or written together with a word for number: userid, kundennr
        closing = "" if word == Hint.NUMBER else f"(?:{_NUMBER})?"
        parts.append(f"_(?:{latin}){closing}_")
    if word in _CJK:
        parts.append(_CJK[word].casefold())
    return re.compile("|".join(parts))


@functools.cache
def spelled(name: str) -> str:
    """Return the words of a column's name in lower case, without accents, each between underscores.

    >>> spelled("CustomerID"), spelled("N° de commande"), spelled("会員ＩＤ"), spelled("Bestelldatum")
    ('_customer_id_', '_n_de_commande_', '_会員_id_', '_bestell_datum_')
    """
    plain = "".join(_unaccented(sign) for sign in unicodedata.normalize("NFKC", name))
    plain = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", plain)
    # 会員ID: where the script changes, a word ends
    plain = re.sub(r"(?<=[^\x00-\x7f])(?=[A-Za-z])|(?<=[A-Za-z])(?=[^\x00-\x7f])", "_", plain)
    words = "_" + re.sub(r"[\W_]+", "_", plain.casefold()).strip("_") + "_"
    return _compounds().sub(r"_\1_\2_", words)


@functools.cache
def _compounds() -> re.Pattern[str]:
    """Return what two words written together look like: Bestelldatum, orderdate, customername."""
    parts = "|".join(_LATIN[word] for word in (Hint.BUYER, Hint.PERSON, Hint.ORDER, Hint.EVENT, Hint.GOODS))
    return re.compile(f"_({parts}|unit|total|net|gross|gesamt|einzel)({_SECOND_HALVES}|{_NUMBER})(?=_)_")


def _unaccented(sign: str) -> str:
    """Return a Latin letter without its accent; other signs stay, for が is not か."""
    if "\u00c0" <= sign <= "\u024f":
        return unicodedata.normalize("NFD", sign)[0] if sign != "ß" else "ss"
    return sign


@functools.cache
def says(name: str, *words: Hint) -> bool:
    """Tell whether a column's name has one of ``words``.

    >>> says("Kundennr", Hint.BUYER), says("cardio", Hint.CARD), says("order_customer_id", Hint.ORDER, Hint.GOODS)
    (True, False, True)
    """
    text = spelled(name)
    return any(_pattern(word).search(text) for word in words)


@functools.cache
def last_said(name: str, *words: Hint) -> Hint | None:
    """Return which of ``words`` a name ends with, as far as it has them: what it is a name *of*.

    >>> last_said("order_customer_id", Hint.ORDER, Hint.BUYER), last_said("customer_order_id", Hint.ORDER, Hint.BUYER)
    (<Hint.BUYER: 'buyer'>, <Hint.ORDER: 'order'>)
    """
    text = spelled(name)
    places = [(found.end(), word) for word in words if (found := _last(_pattern(word), text)) is not None]
    return max(places, key=lambda place: place[0])[1] if places else None


def _last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    found = pattern.search(text)
    while found is not None:
        later = pattern.search(text, found.start() + 1)
        if later is None:
            return found
        found = later
    return None


def is_bare(name: str, word: Hint) -> bool:
    """Tell whether a name is one word and no more.

    >>> is_bare("Customer", Hint.BUYER), is_bare("customer_group", Hint.BUYER)
    (True, False)
    """
    text = spelled(name)
    return _pattern(word).fullmatch(text) is not None or text.strip("_") in _CJK.get(word, "").split("|")


def is_bare_id(name: str) -> bool:
    """Tell whether a name says that values are numbers of something, and not of what.

    >>> is_bare_id("ID"), is_bare_id("shop_id")
    (True, False)
    """
    return re.fullmatch(r"_(?:row_)?(?:id|ids|uid|uuid|guid|pid|identifier)_", spelled(name)) is not None
